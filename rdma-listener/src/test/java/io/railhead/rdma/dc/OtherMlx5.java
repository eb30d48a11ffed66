package io.railhead.rdma.dc;

import com.ibm.disni.verbs.IbvCQ;
import com.ibm.disni.verbs.IbvContext;
import com.ibm.disni.verbs.IbvPd;
import io.railhead.os.verbs.AddressHandle;
import io.railhead.os.verbs.AddressVector;
import io.railhead.os.verbs.DcInitiator;
import io.railhead.os.verbs.DcTarget;
import io.railhead.os.verbs.Mlx5;
import java.io.IOException;
import java.util.concurrent.CountDownLatch;

/**
 * A library of which something is otherwise.
 *
 * @param isSupported whether it has this transport on any device
 * @param mayLookUp what a way waits for
 */
record OtherMlx5(Mlx5 otherwise, boolean isSupported, CountDownLatch mayLookUp) implements Mlx5 {

    @Override
    public boolean supports(IbvContext context) {
        return isSupported;
    }

    @Override
    public DcInitiator createInitiator(IbvPd domain, IbvCQ queue, DcInitiator.Capacity capacity)
            throws IOException {
        return otherwise.createInitiator(domain, queue, capacity);
    }

    @Override
    public AddressHandle createAddressHandle(IbvPd domain, AddressVector to) throws IOException {
        try {
            mayLookUp.await();
        } catch (InterruptedException e) {
            throw new IOException(e);
        }
        return otherwise.createAddressHandle(domain, to);
    }

    @Override
    public DcTarget createTarget(IbvPd domain, IbvCQ queue, DcTarget.Attributes attributes)
            throws IOException {
        return otherwise.createTarget(domain, queue, attributes);
    }
}
