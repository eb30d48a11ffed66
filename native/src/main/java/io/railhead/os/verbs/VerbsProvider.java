package io.railhead.os.verbs;

import com.ibm.disni.verbs.RdmaCm;
import com.ibm.disni.verbs.RdmaProvider;
import com.ibm.disni.verbs.RdmaVerbs;
import java.io.IOException;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;

/**
 * The provider behind DiSNI's API that calls rdma-core itself, so that no native library is needed
 * besides the distribution's. DiSNI 2.1 has no public way to set a provider. It keeps one in a
 * private static field, and would otherwise construct its own JNI provider. This one is stored
 * there first.
 */
public final class VerbsProvider extends RdmaProvider {
    private static final int VERSION = 36;

    private final ForeignCm cm;
    private final ForeignVerbs verbs;
    private final ForeignExtensions extensions;

    private VerbsProvider(LibIbverbs ibverbs, LibRdmacm rdmacm) {
        cm = new ForeignCm(rdmacm);
        verbs = new ForeignVerbs(ibverbs);
        extensions = new ForeignExtensions(ibverbs, rdmacm, cm, verbs);
    }

    /**
     * Makes this the process's provider, before any of DiSNI's types is constructed. Installing it
     * again changes nothing.
     *
     * @throws VerbsUnavailableException if this machine lacks a requirement
     */
    public static VerbsExtensions install() throws IOException {
        VarHandle field = field();
        if (field.getVolatile() == null) {
            field.compareAndSet((RdmaProvider) null,
                    (RdmaProvider) new VerbsProvider(LibIbverbs.load(), LibRdmacm.load()));
        }
        RdmaProvider installed = (RdmaProvider) field.getVolatile();
        if (installed instanceof VerbsProvider ours) {
            return ours.extensions;
        }
        throw new VerbsUnavailableException(
                "this process uses " + installed.getClass().getName() + " already");
    }

    /**
     * Makes rdma-core release removed devices. It holds every device of the machine, used or not,
     * and some removals wait for that. Call repeatedly. Any thread; does nothing if rdma-core is
     * not in use.
     */
    public static void releaseRemoved() {
        if (field().getVolatile() instanceof VerbsProvider ours) {
            ours.extensions.releaseRemoved();
        }
    }

    private static VarHandle field() {
        try {
            return MethodHandles.privateLookupIn(RdmaProvider.class, MethodHandles.lookup())
                    .findStaticVarHandle(RdmaProvider.class, "provider", RdmaProvider.class);
        } catch (ReflectiveOperationException e) {
            throw new LinkageError("DiSNI's RdmaProvider has no field of that name", e);
        }
    }

    @Override
    public RdmaCm openCm() {
        return cm;
    }

    @Override
    public RdmaVerbs openVerbs() {
        return verbs;
    }

    @Override
    public int getVersion() {
        return VERSION;
    }
}
