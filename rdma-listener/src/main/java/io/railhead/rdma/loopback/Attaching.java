package io.railhead.rdma.loopback;

import io.railhead.os.ProcessMemory;
import io.railhead.protocol.message.Bytes32;
import io.railhead.protocol.message.Message.Attach;
import java.io.IOException;
import java.lang.foreign.MemorySegment;

/**
 * An ATTACH that waits for its proof: the peer writes the nonce into the attached memory, which
 * shows that the memory is its own. This object owns the process's handle until {@link #proven}.
 * Event loop only, except {@link #proven}.
 */
final class Attaching {
    private final Attach attach;
    private final ProcessMemory ownedProcess;
    private final Bytes32 nonce;

    Attaching(Attach attach, ProcessMemory ownedProcess, Bytes32 nonce) {
        this.attach = attach;
        this.ownedProcess = ownedProcess;
        this.nonce = nonce;
    }

    Attach attach() {
        return attach;
    }

    Bytes32 nonce() {
        return nonce;
    }

    /**
     * Returns the peer's memory, which the caller then owns; throws, and closes the handle, if the
     * nonce is not in it. Copy workers only, since the memory may never answer.
     */
    AttachedMemory proven() throws IOException {
        try {
            byte[] found = new byte[Bytes32.SIZE];
            ownedProcess.read(attach.proofAddress(), MemorySegment.ofArray(found));
            if (!Bytes32.of(found).equals(nonce)) {
                throw new IOException("the process found is not the client");
            }
            return new AttachedMemory(ownedProcess, attach.baseAddress());
        } catch (IOException | RuntimeException | Error e) {
            close();
            throw e;
        }
    }

    void close() {
        ownedProcess.close();
    }
}
