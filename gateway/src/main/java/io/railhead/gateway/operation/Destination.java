package io.railhead.gateway.operation;

import io.railhead.rdma.RemoteBuffer;
import io.railhead.rdma.dialect.Dialect;
import java.util.Locale;

/** Where an object's bytes go. */
sealed interface Destination {

    /**
     * The HTTP body.
     *
     * @param declined why RDMA was asked for and is not used; "" if it was not asked for
     */
    record Body(String declined) implements Destination {}

    /** The client's own memory. */
    record Memory(RemoteBuffer buffer, Dialect dialect) implements Destination {

        /** The dialect's, in metrics. */
        String label() {
            return dialect.name().toLowerCase(Locale.ROOT);
        }
    }
}
