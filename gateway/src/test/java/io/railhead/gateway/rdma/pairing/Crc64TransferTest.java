package io.railhead.gateway.rdma.pairing;

import static io.railhead.rdma.Awaiting.failure;
import static io.railhead.rdma.Awaiting.result;
import static org.assertj.core.api.Assertions.assertThat;

import io.railhead.cache.memory.PageSlice;
import io.railhead.gateway.s3.body.Crc64Nvme;
import io.railhead.rdma.Awaiting;
import io.railhead.rdma.TestPages;
import io.railhead.rdma.Transfer;
import io.railhead.rdma.TransferException.Reason;
import io.railhead.rdma.UnavailableFabric;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Base64;
import java.util.List;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentLinkedDeque;
import java.util.concurrent.ConcurrentLinkedQueue;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

class Crc64TransferTest {
    private static final int SEED = 3;
    private final TestPages pages = new TestPages(new UnavailableFabric("none", "a test's"));
    private final Under under = new Under();
    private final Crc64Transfer transfer = new Crc64Transfer(under);

    @AfterEach
    void nothingIsLeft() {
        pages.close();
    }

    /** Writes end when they are told to, in any order; a read lands at once. */
    private static final class Under implements Transfer {
        final ConcurrentLinkedDeque<CompletableFuture<Void>> writes = new ConcurrentLinkedDeque<>();
        final ConcurrentLinkedQueue<PageSlice> slices = new ConcurrentLinkedQueue<>();

        @Override
        public CompletionStage<Void> write(PageSlice ownedSlice, long bufferOffset) {
            CompletableFuture<Void> write = new CompletableFuture<>();
            slices.add(ownedSlice);
            writes.addFirst(write);
            return write;
        }

        @Override
        public CompletionStage<PageSlice> read(PageSlice ownedSlice, long bufferOffset) {
            return CompletableFuture.completedFuture(ownedSlice);
        }

        @Override
        public CompletionStage<Void> fence() {
            slices.forEach(PageSlice::close);
            slices.clear();
            return CompletableFuture.completedFuture(null);
        }
    }

    private static String header(List<byte[]> pieces) {
        Crc64Nvme crc = new Crc64Nvme();
        pieces.forEach(crc::update);
        return "CRC64NVME " + Base64.getEncoder()
                .encodeToString(ByteBuffer.allocate(8).putLong(0, crc.getValue()).array());
    }

    private static List<byte[]> pieces() {
        Random random = new Random(SEED);
        List<byte[]> pieces = new ArrayList<>();
        for (int i = 0; i < 20; i++) {
            byte[] piece = new byte[1 + random.nextInt(200_000)];
            random.nextBytes(piece);
            pieces.add(piece);
        }
        return pieces;
    }

    @Test
    void whatIsWrittenIsSummedUpInItsOrderHoweverItArrives() {
        List<byte[]> pieces = pieces();
        List<CompletionStage<Void>> written = new ArrayList<>();
        long offset = 0;
        for (byte[] piece : pieces) {
            written.add(transfer.write(pages.of(piece), offset));
            offset += piece.length;
        }
        Awaiting.until("all are handed on", () -> under.writes.size() == pieces.size());
        assertThat(written).noneMatch(stage -> stage.toCompletableFuture().isDone());
        under.writes.forEach(write -> write.complete(null));
        written.forEach(Awaiting::result);
        assertThat(transfer.header()).isEqualTo(header(pieces));
        result(transfer.fence());
    }

    @Test
    void whatIsReadIsSummedUpBeforeItIsHandedOut() {
        List<byte[]> pieces = pieces();
        for (byte[] piece : pieces) {
            result(transfer.read(pages.of(piece), 0)).close();
        }
        assertThat(transfer.header()).isEqualTo(header(pieces));
    }

    @Test
    void aFenceLeavesNothingOpenThatWasOvertaken() {
        List<CompletionStage<Void>> written = new ArrayList<>();
        for (byte[] piece : pieces()) {
            written.add(transfer.write(pages.of(piece), 0));
        }
        result(transfer.fence());
        assertThat(pages.leases()).isZero();
        under.writes.forEach(write -> write.complete(null));
        assertThat(written.stream().map(Awaiting::failure).filter(Reason.FENCED::equals).count())
                .isEqualTo(written.size() - under.writes.size());
        assertThat(failure(transfer.write(pages.of(new byte[1]), 0))).isEqualTo(Reason.FENCED);
    }
}
