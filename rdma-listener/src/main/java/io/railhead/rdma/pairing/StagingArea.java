package io.railhead.rdma.pairing;

import io.railhead.rdma.RemoteBuffer;
import java.util.concurrent.CompletionStage;

/**
 * Memory of the gateway that only one peer may write.
 *
 * @param address the address for the peer's writes
 * @param key the peer's right to write, until {@code filled} completes
 * @param filled completes once the peer has written everything and its right was revoked; then a
 *            transfer of {@code window} reads the bytes. Fails if the session ends before
 */
public record StagingArea(long address, int key, RemoteBuffer window,
        CompletionStage<Void> filled) {}
