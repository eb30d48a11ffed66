package io.railhead.os.verbs;

import java.io.IOException;

/** struct ibv_ah, until it is destroyed. */
final class ForeignAddressHandle implements AddressHandle {
    private final LibMlx5 library;
    private final long address;
    private volatile boolean isOpen = true;

    ForeignAddressHandle(LibMlx5 library, long address) {
        this.library = library;
        this.address = address;
    }

    long address() {
        Foreign.requireOpen(isOpen);
        return address;
    }

    @Override
    public void close() throws IOException {
        Foreign.requireOpen(isOpen);
        isOpen = false;
        NativeLibrary.check("ibv_destroy_ah",
                state -> (int) library.destroyAh.invokeExact(state, address));
    }
}
