package io.railhead.os.verbs;

import com.ibm.disni.verbs.RdmaCm;
import com.ibm.disni.verbs.RdmaProvider;
import com.ibm.disni.verbs.RdmaVerbs;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;

/**
 * The provider behind DiSNI's API that calls rdma-core itself. DiSNI keeps its provider in a
 * private static field and would construct its own JNI one; this one is put there first.
 */
final class ForeignProvider extends RdmaProvider {
    private static final int VERSION = 36;

    private final ForeignCm cm;
    private final ForeignVerbs verbs;
    private final ForeignExtensions extensions;

    private ForeignProvider(LibIbverbs ibverbs, LibRdmacm rdmacm) {
        cm = new ForeignCm(rdmacm);
        verbs = new ForeignVerbs(ibverbs);
        extensions = new ForeignExtensions(ibverbs, rdmacm, cm, verbs);
    }

    static ForeignProvider install() throws VerbsUnavailableException {
        VarHandle field = field();
        if (field.getVolatile() == null) {
            field.compareAndSet((RdmaProvider) null,
                    (RdmaProvider) new ForeignProvider(LibIbverbs.load(), LibRdmacm.load()));
        }
        RdmaProvider installed = (RdmaProvider) field.getVolatile();
        if (installed instanceof ForeignProvider ours) {
            return ours;
        }
        throw new VerbsUnavailableException(
                "this process uses " + installed.getClass().getName() + " already");
    }

    /** Nothing where this is not the process's provider. */
    static void releaseRemoved() {
        if (field().getVolatile() instanceof ForeignProvider ours) {
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

    VerbsExtensions extensions() {
        return extensions;
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
