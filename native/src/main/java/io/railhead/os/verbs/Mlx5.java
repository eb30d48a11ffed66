package io.railhead.os.verbs;

import com.ibm.disni.verbs.IbvCQ;
import com.ibm.disni.verbs.IbvContext;
import com.ibm.disni.verbs.IbvPd;
import java.io.IOException;

/**
 * The direct verbs of libmlx5 for the dynamically connected transport of NVIDIA's adapters. Any
 * thread.
 *
 * <p> One initiator reaches every target of the fabric that has the same key, without a connection:
 *
 * <pre>
 *   initiator (DCI)                                  target (DCT)
 *   send queue ── work request ─────────────────────▶ number, key ──▶ registered memory
 *                 + address handle (port, GID, LID)
 *                 + target's number and key
 * </pre>
 *
 * The creator of an object closes it, once, before the protection domain and the completion queue
 * that it was created with. Failures of the library are {@link VerbsException}.
 *
 * @see <a href="https://man7.org/linux/man-pages/man3/mlx5dv_create_qp.3.html">mlx5dv_create_qp</a>
 */
public interface Mlx5 {

    /**
     * Loads the library of this machine.
     *
     * @throws VerbsUnavailableException if it is not installed or lacks a function
     */
    static Mlx5 load() throws IOException {
        return new ForeignMlx5(LibMlx5.load());
    }

    /** Returns whether libmlx5 drives this device: only such devices have this transport. */
    boolean supports(IbvContext context);

    /**
     * Returns an initiator in RESET: {@link DcInitiator#connect} before it takes requests.
     *
     * @param queue the queue for its completions, with room for all of its requests at once
     */
    DcInitiator createInitiator(IbvPd domain, IbvCQ queue, DcInitiator.Capacity capacity)
            throws IOException;

    /**
     * Returns a handle to a port; over Ethernet this asks the kernel for the port's hardware
     * address.
     */
    AddressHandle createAddressHandle(IbvPd domain, AddressVector to) throws IOException;

    /**
     * Returns a target that takes requests at once, with a shared receive queue of its own. It
     * gives access to memory registered with remote rights in its protection domain.
     */
    DcTarget createTarget(IbvPd domain, IbvCQ queue, DcTarget.Attributes attributes)
            throws IOException;
}
