package io.railhead.os.verbs;

import com.ibm.disni.verbs.IbvCQ;
import com.ibm.disni.verbs.IbvContext;
import com.ibm.disni.verbs.IbvPd;
import java.io.IOException;

/**
 * libmlx5's direct verbs, as far as the dynamically connected transport of NVIDIA's adapters needs
 * them. Any thread.
 *
 * <p> One initiator reaches every target of the fabric that knows its key, without a connection:
 *
 * <pre>
 *   initiator (DCI)                                  target (DCT)
 *   send queue ── work request ─────────────────────▶ number, key ──▶ registered memory
 *                 + address handle (port, GID, LID)
 *                 + target's number and key
 * </pre>
 *
 * Objects are closed by whoever created them, once, before the protection domain and the completion
 * queue that they were made with. Failures of the library are {@link VerbsException}.
 *
 * @see <a href="https://man7.org/linux/man-pages/man3/mlx5dv_create_qp.3.html">mlx5dv_create_qp</a>
 */
public interface Mlx5 {

    /**
     * The library of this machine.
     *
     * @throws VerbsUnavailableException where it is not installed, or lacks a function
     */
    static Mlx5 load() throws IOException {
        return new ForeignMlx5(LibMlx5.load());
    }

    /** Whether this is a device of libmlx5's, the only ones that have this transport. */
    boolean supports(IbvContext context);

    /**
     * An initiator in RESET: {@link DcInitiator#connect} before it takes requests.
     *
     * @param queue takes its completions; has room for all of its requests at once
     */
    DcInitiator createInitiator(IbvPd domain, IbvCQ queue, DcInitiator.Capacity capacity)
            throws IOException;

    /** How to reach a port; over Ethernet this asks the kernel for its hardware address. */
    AddressHandle createAddressHandle(IbvPd domain, AddressVector to) throws IOException;

    /**
     * A target that takes requests at once, with a shared receive queue of its own. What is
     * registered in its protection domain with remote rights can be reached through it.
     */
    DcTarget createTarget(IbvPd domain, IbvCQ queue, DcTarget.Attributes attributes)
            throws IOException;
}
