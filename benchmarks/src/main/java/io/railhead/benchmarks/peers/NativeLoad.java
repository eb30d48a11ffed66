package io.railhead.benchmarks.peers;

import io.railhead.protocol.channel.Answer;
import io.railhead.protocol.channel.AnswerOrigin;
import io.railhead.protocol.channel.Request;
import java.io.IOException;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.concurrent.CompletionStage;
import java.util.function.BooleanSupplier;

/**
 * GETs on one native channel, with as many requests under way as other loads have connections. They
 * follow one after another, or in a few batches.
 */
record NativeLoad(GatewaySession session, ClientWindows windows, int requests) implements Load {
    private static final int BATCHES = 4;

    @Override
    public void run(BooleanSupplier stopped, Meter meter) throws IOException {
        if (requests == 1) {
            oneByOne(session.get(0), stopped, meter);
        } else {
            inBatches(stopped, meter);
        }
        windows.requireAllDelivered(requests);
    }

    private void oneByOne(Request request, BooleanSupplier stopped, Meter meter)
            throws IOException {
        do {
            long began = System.nanoTime();
            require(session.channel().call(request));
            meter.done(System.nanoTime() - began, windows.windowBytes());
        } while (!stopped.getAsBoolean());
    }

    private void inBatches(BooleanSupplier stopped, Meter meter) {
        List<List<Request>> batches = batches();
        Deque<List<CompletionStage<Answer>>> underWay = new ArrayDeque<>();
        // Runs every batch once, even if stopped early.
        for (int next = 0; !stopped.getAsBoolean() || next < batches.size(); next++) {
            if (underWay.size() == batches.size()) {
                settle(underWay.remove());
            }
            underWay.add(send(batches.get(next % batches.size()), meter));
        }
        while (!underWay.isEmpty()) {
            settle(underWay.remove());
        }
    }

    private List<List<Request>> batches() {
        int count = Math.min(BATCHES, requests);
        List<List<Request>> batches = new ArrayList<>();
        for (int batch = 0; batch < count; batch++) {
            List<Request> members = new ArrayList<>();
            for (int i = batch; i < requests; i += count) {
                members.add(session.get(i));
            }
            batches.add(members);
        }
        return batches;
    }

    private List<CompletionStage<Answer>> send(List<Request> batch, Meter meter) {
        long began = System.nanoTime();
        List<CompletionStage<Answer>> answers = session.channel().send(batch);
        for (CompletionStage<Answer> answer : answers) {
            var _ = answer.thenRun(
                    () -> meter.done(System.nanoTime() - began, windows.windowBytes()));
        }
        return answers;
    }

    private void settle(List<CompletionStage<Answer>> answers) {
        for (CompletionStage<Answer> answer : answers) {
            require(answer.toCompletableFuture().join());
        }
    }

    private void require(Answer answer) {
        if (answer.status() != 200 || answer.bytesMoved() != windows.windowBytes()
                || answer.cache() == AnswerOrigin.NONE) {
            throw new IllegalStateException("not delivered: " + answer);
        }
    }
}
