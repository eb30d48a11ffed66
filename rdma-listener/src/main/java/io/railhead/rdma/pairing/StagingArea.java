package io.railhead.rdma.pairing;

import io.railhead.rdma.RemoteBuffer;
import java.util.concurrent.CompletionStage;

/**
 * Memory of the gateway that one peer may write, and nobody else.
 *
 * @param address as the peer names it
 * @param key the peer's right to it, until {@code filled} completes
 * @param filled completes once the peer has written all of it, and its right was taken back; then a
 *            transfer of {@code window} reads the bytes. Exceptionally when the session ends before
 */
public record StagingArea(long address, int key, RemoteBuffer window,
        CompletionStage<Void> filled) {}
