package io.railhead.os.verbs;

import static io.railhead.os.verbs.NativeLibrary.POINTER;
import static io.railhead.os.verbs.NativeLibrary.SEGMENT;
import static java.lang.foreign.ValueLayout.JAVA_BOOLEAN;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import java.lang.invoke.MethodHandle;

/**
 * libmlx5.so.1, the functions of libibverbs.so.1 that it needs, and those that their headers
 * inline.
 */
final class LibMlx5 {
    /**
     * Inlined functions, whose address is the first argument. Constants, so that the JVM compiles
     * them in.
     */
    static final MethodHandle WR_START_OR_ABORT = NativeLibrary.procedurePointer(JAVA_LONG);
    static final MethodHandle WR_COMPLETE = NativeLibrary.pointer(JAVA_LONG);
    static final MethodHandle WR_RDMA = NativeLibrary.procedurePointer(JAVA_LONG, JAVA_INT,
            JAVA_LONG);
    static final MethodHandle WR_SET_DC_ADDR = NativeLibrary.procedurePointer(JAVA_LONG, JAVA_LONG,
            JAVA_INT, JAVA_LONG);
    static final MethodHandle WR_SET_SGE = NativeLibrary.procedurePointer(JAVA_LONG, JAVA_INT,
            JAVA_LONG, JAVA_INT);
    static final MethodHandle WR_SET_SGE_LIST = NativeLibrary.procedurePointer(JAVA_LONG,
            JAVA_LONG, JAVA_LONG);

    final MethodHandle isSupported;
    final MethodHandle createQp;
    final MethodHandle qpExFromIbvQpEx;
    final MethodHandle qpToQpEx;
    final MethodHandle modifyQp;
    final MethodHandle destroyQp;
    final MethodHandle createAh;
    final MethodHandle destroyAh;
    final MethodHandle createSrq;
    final MethodHandle destroySrq;

    LibMlx5(NativeLibrary mlx5, NativeLibrary ibverbs) throws VerbsUnavailableException {
        isSupported = mlx5.function("mlx5dv_is_supported", JAVA_BOOLEAN, POINTER);
        createQp = mlx5.function("mlx5dv_create_qp", POINTER, POINTER, SEGMENT, SEGMENT);
        qpExFromIbvQpEx = mlx5.function("mlx5dv_qp_ex_from_ibv_qp_ex", POINTER, POINTER);
        qpToQpEx = ibverbs.function("ibv_qp_to_qp_ex", POINTER, POINTER);
        modifyQp = ibverbs.function("ibv_modify_qp", JAVA_INT, POINTER, SEGMENT, JAVA_INT);
        destroyQp = ibverbs.function("ibv_destroy_qp", JAVA_INT, POINTER);
        createAh = ibverbs.function("ibv_create_ah", POINTER, POINTER, SEGMENT);
        destroyAh = ibverbs.function("ibv_destroy_ah", JAVA_INT, POINTER);
        createSrq = ibverbs.function("ibv_create_srq", POINTER, POINTER, SEGMENT);
        destroySrq = ibverbs.function("ibv_destroy_srq", JAVA_INT, POINTER);
    }

    static LibMlx5 load() throws VerbsUnavailableException {
        return load("libmlx5.so.1");
    }

    static LibMlx5 load(String mlx5) throws VerbsUnavailableException {
        if (!NativeLibrary.isGnu()) {
            // Layout.Qp.size depends on this library's locks.
            throw new VerbsUnavailableException("the DC transport needs the GNU C library");
        }
        String mend = "install the distribution's libibverbs1 and ibverbs-providers";
        return new LibMlx5(NativeLibrary.open(mlx5, mend),
                NativeLibrary.open("libibverbs.so.1", mend));
    }
}
