package io.railhead.rdma;

import io.railhead.cache.memory.PageSlice;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * One request's bytes in several windows, each by a transfer of its own. A slice that lies across
 * windows goes in pieces, each with a lease of its own. The slice ends once all its pieces have
 * ended, so nothing touches its page any more. Threads as of {@link Transfer}.
 */
final class WindowedTransfer implements Transfer {
    private final List<Part> parts;

    /** @param start the offset of the window's first byte among the bytes of all windows */
    record Part(Transfer transfer, long start, long length) {}

    /** @param parts in their order, without gaps, from 0 */
    WindowedTransfer(List<Part> parts) {
        this.parts = List.copyOf(parts);
    }

    @Override
    public CompletionStage<Void> write(PageSlice ownedSlice, long bufferOffset) {
        int first = partAt(bufferOffset);
        if (isWithin(first, bufferOffset, ownedSlice.length())) {
            Part part = parts.get(first);
            return part.transfer.write(ownedSlice, bufferOffset - part.start);
        }
        CompletableFuture<Void> written = new CompletableFuture<>();
        // Not a dependent stage, which would wrap the failure.
        var _ = afterPieces(ownedSlice, bufferOffset, Transfer::write)
                .whenComplete((_, failure) -> {
                    ownedSlice.close();
                    end(written, failure);
                });
        return written;
    }

    @Override
    public CompletionStage<PageSlice> read(PageSlice ownedSlice, long bufferOffset) {
        int first = partAt(bufferOffset);
        if (isWithin(first, bufferOffset, ownedSlice.length())) {
            Part part = parts.get(first);
            return part.transfer.read(ownedSlice, bufferOffset - part.start);
        }
        CompletableFuture<PageSlice> outcome = new CompletableFuture<>();
        var _ = afterPieces(ownedSlice, bufferOffset, WindowedTransfer::readPiece)
                .whenComplete((_, failure) -> {
                    if (failure == null) {
                        outcome.complete(ownedSlice);
                    } else {
                        ownedSlice.close();
                        outcome.completeExceptionally(failure);
                    }
                });
        return outcome;
    }

    /** Reads a piece, whose lease nobody needs afterwards: the whole slice has its own. */
    private static CompletionStage<?> readPiece(Transfer transfer, PageSlice ownedPiece,
            long offset) {
        CompletableFuture<Void> read = new CompletableFuture<>();
        var _ = transfer.read(ownedPiece, offset).whenComplete((piece, failure) -> {
            if (piece != null) {
                piece.close();
            }
            end(read, failure);
        });
        return read;
    }

    private static void end(CompletableFuture<Void> stage, @Nullable Throwable failure) {
        boolean _ = failure == null
                ? stage.complete(null)
                : stage.completeExceptionally(failure);
    }

    /** A piece's way, by the transfer of its window. */
    private interface Move {
        CompletionStage<?> begin(Transfer transfer, PageSlice ownedPiece, long offset);
    }

    /** Moves a slice in pieces. The stage ends after all of them, with the first failure. */
    private CompletableFuture<Void> afterPieces(PageSlice slice, long bufferOffset, Move move) {
        List<CompletionStage<?>> pieces = new ArrayList<>();
        int done = 0;
        for (int at = partAt(bufferOffset); done < slice.length(); at++) {
            Part part = parts.get(at);
            long offset = bufferOffset + done - part.start;
            // The last window refuses what lies behind it.
            int bytes = at == parts.size() - 1
                    ? slice.length() - done
                    : (int) Math.min(slice.length() - done, part.length - offset);
            int from = done;
            pieces.add(begin(() -> move.begin(part.transfer, slice.part(from, bytes), offset)));
            done += bytes;
        }
        return afterAll(pieces);
    }

    private static CompletionStage<?> begin(Supplier<CompletionStage<?>> piece) {
        try {
            return piece.get();
        } catch (RuntimeException | Error e) {
            // The pieces before it may be under way.
            return CompletableFuture.failedStage(e);
        }
    }

    private static CompletableFuture<Void> afterAll(List<CompletionStage<?>> stages) {
        CompletableFuture<Void> end = new CompletableFuture<>();
        AtomicInteger left = new AtomicInteger(stages.size());
        AtomicReference<@Nullable Throwable> first = new AtomicReference<>();
        for (CompletionStage<?> stage : stages) {
            var _ = stage.whenComplete((_, failure) -> {
                if (failure != null) {
                    first.compareAndSet(null, failure);
                }
                if (left.decrementAndGet() == 0) {
                    end(end, first.get());
                }
            });
        }
        return end;
    }

    @Override
    public CompletionStage<Void> fence() {
        List<CompletionStage<?>> fences = new ArrayList<>();
        parts.forEach(part -> fences.add(part.transfer.fence()));
        return afterAll(fences);
    }

    private boolean isWithin(int index, long offset, int bytes) {
        Part part = parts.get(index);
        return index == parts.size() - 1 || offset + bytes <= part.start + part.length;
    }

    /** Returns the window of an offset; the last one for what lies behind all. */
    private int partAt(long offset) {
        int index = 0;
        while (index < parts.size() - 1
                && offset >= parts.get(index).start + parts.get(index).length) {
            index++;
        }
        return index;
    }
}
