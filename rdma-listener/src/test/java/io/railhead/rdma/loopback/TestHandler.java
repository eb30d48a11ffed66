package io.railhead.rdma.loopback;

import io.railhead.cache.memory.PageSlice;
import io.railhead.protocol.channel.Answer;
import io.railhead.protocol.channel.AnswerOrigin;
import io.railhead.protocol.channel.Request;
import io.railhead.protocol.channel.RequestView;
import io.railhead.rdma.RemoteBuffer;
import io.railhead.rdma.TransferException;
import io.railhead.rdma.channel.RequestChannel;
import io.railhead.rdma.channel.RequestHandler;
import java.util.Map;
import java.util.Queue;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * Serves by key: "hit/..." is delivered at once, "held/..." is kept for the test to answer, "bad"
 * throws, and all else is a 404.
 */
final class TestHandler implements RequestHandler {
    /** A request that waits for the test. */
    record Held(Request request, RequestChannel channel) {
        void answer(Answer answer) {
            channel.answer(answer);
        }

        void decline(String reason) {
            channel.answer(Answer.declined(request.id(), reason));
        }
    }

    /** Gives the slices of a hit, null-padded. */
    volatile Supplier<@Nullable PageSlice[]> object = () -> new @Nullable PageSlice[1];
    volatile boolean failsToEnd;
    final Queue<Held> held = new ConcurrentLinkedQueue<>();
    final Queue<Integer> cancelled = new ConcurrentLinkedQueue<>();
    final Map<RequestChannel, Integer> ended = new ConcurrentHashMap<>();

    @Override
    public void handle(RequestView request, RequestChannel channel) {
        String key = request.key();
        if (key.startsWith("hit/")) {
            deliver(request, channel);
        } else if (key.startsWith("held/")) {
            held.add(new Held(request.toRequest(), channel));
        } else if (key.equals("bad")) {
            throw new IllegalStateException("on purpose");
        } else {
            channel.answer(Answer.failed(request.id(), 404, "NoSuchKey", key));
        }
    }

    private void deliver(RequestView request, RequestChannel channel) {
        RemoteBuffer window;
        try {
            window = channel.session()
                    .window(request.bufferKey(), request.offset(),
                            request.window());
        } catch (TransferException e) {
            channel.answer(Answer.failed(request.id(), 400, "InvalidWindow", e.reason().name()));
            return;
        }
        @Nullable
        PageSlice[] slices = object.get();
        long bytes = 0;
        int count = 0;
        for (PageSlice slice : slices) {
            if (slice != null) {
                bytes += slice.length();
                count++;
            }
        }
        channel.deliver(window, slices, count, Answer.delivered(request.id(), 200, bytes, bytes, 0,
                0, "\"e\"", "", AnswerOrigin.HIT));
    }

    @Override
    public void cancel(int requestId, RequestChannel channel) {
        cancelled.add(requestId);
        held.removeIf(waiting -> {
            boolean mine = waiting.request().id() == requestId;
            if (mine) {
                waiting.decline(Answer.CANCELLED);
            }
            return mine;
        });
    }

    @Override
    public void ended(RequestChannel channel) {
        ended.merge(channel, 1, Integer::sum);
        if (failsToEnd) {
            throw new IllegalStateException("on purpose");
        }
    }
}
