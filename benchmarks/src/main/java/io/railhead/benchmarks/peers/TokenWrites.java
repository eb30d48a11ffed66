package io.railhead.benchmarks.peers;

import java.io.IOException;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.BooleanSupplier;

/**
 * One object, written once out of memory that tokens name: by one PUT, or in parts that the threads
 * share. One thread's share.
 *
 * @param next number of the next piece, of all threads
 */
record TokenWrites(Order order, GatewaySession session, ClientWindows windows, int window,
        AtomicInteger next) implements Load {
    @Override
    public void run(BooleanSupplier stopped, Meter meter) throws IOException {
        try (GatewayConnection http = new GatewayConnection(order.host())) {
            for (int piece = next.getAndIncrement(); piece < order.pieces()
                    && !stopped.getAsBoolean(); piece = next.getAndIncrement()) {
                long began = System.nanoTime();
                http.send(head(piece));
                GatewayConnection.requireMoved(http.receiveHead(), windows.windowBytes());
                meter.done(System.nanoTime() - began, windows.windowBytes());
            }
        }
    }

    private byte[] head(int piece) {
        Map<String, String> headers = new HashMap<>();
        headers.put("content-length", "0");
        headers.put("x-amz-rdma-token", session.token(window));
        String query = order.upload().isEmpty()
                ? ""
                : "partNumber=" + (piece + 1) + "&uploadId=" + order.upload();
        return order.signer().sign("PUT", order.path(), query, headers).bytes();
    }
}
