package io.railhead.os.verbs;

import java.io.IOException;

/** The provider behind DiSNI's API in this process: {@code rdma.provider}. */
public enum VerbsProvider {
    /** Railhead's own, over rdma-core: no native library beside the distribution's. */
    FOREIGN {
        @Override
        public VerbsExtensions install() throws IOException {
            return ForeignProvider.install().extensions();
        }
    },
    /** DiSNI's own, over libdisni; it declines what DiSNI's types cannot say. */
    DISNI {
        @Override
        public VerbsExtensions install() throws IOException {
            return DisniExtensions.install();
        }
    };

    /**
     * Has rdma-core let go of devices that have gone: it holds every device of the machine, used or
     * not, and some are not gone before. To be called again and again. Any thread; nothing where
     * rdma-core is not in use.
     */
    public static void releaseRemoved() {
        ForeignProvider.releaseRemoved();
    }

    /**
     * Makes this the process's provider, before any of DiSNI's types is constructed. Installing it
     * again changes nothing; another one cannot take its place.
     *
     * @throws VerbsUnavailableException where this machine lacks what it needs
     */
    public abstract VerbsExtensions install() throws IOException;
}
