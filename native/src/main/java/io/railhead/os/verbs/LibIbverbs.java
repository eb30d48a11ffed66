package io.railhead.os.verbs;

import static io.railhead.os.verbs.NativeLibrary.POINTER;
import static io.railhead.os.verbs.NativeLibrary.SEGMENT;
import static io.railhead.os.verbs.NativeLibrary.pointer;
import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import java.lang.invoke.MethodHandle;

/** libibverbs.so.1: its exported functions, and those that its header inlines. */
final class LibIbverbs {
    /**
     * Inlined functions, whose address is the first argument. Constants, so that the JVM compiles
     * them in.
     */
    static final MethodHandle POST = pointer(JAVA_LONG, JAVA_LONG, JAVA_LONG);
    static final MethodHandle POLL_CQ = pointer(JAVA_LONG, JAVA_INT, JAVA_LONG);
    static final MethodHandle REQ_NOTIFY_CQ = pointer(JAVA_LONG, JAVA_INT);

    final MethodHandle getDeviceName;
    final MethodHandle queryDevice;
    final MethodHandle queryPort;
    final MethodHandle allocPd;
    final MethodHandle deallocPd;
    final MethodHandle regMr;
    final MethodHandle deregMr;
    final MethodHandle createCompChannel;
    final MethodHandle destroyCompChannel;
    final MethodHandle createCq;
    final MethodHandle destroyCq;
    final MethodHandle getCqEvent;
    final MethodHandle ackCqEvents;
    final MethodHandle createQp;
    final MethodHandle modifyQp;
    final MethodHandle queryQp;
    final MethodHandle destroyQp;
    final MethodHandle getAsyncEvent;
    final MethodHandle ackAsyncEvent;
    final MethodHandle wcStatusStr;

    private LibIbverbs(NativeLibrary library) throws VerbsUnavailableException {
        getDeviceName = library.function("ibv_get_device_name", POINTER, POINTER);
        queryDevice = library.function("ibv_query_device", JAVA_INT, POINTER, SEGMENT);
        queryPort = library.function("ibv_query_port", JAVA_INT, POINTER, JAVA_BYTE, SEGMENT);
        allocPd = library.function("ibv_alloc_pd", POINTER, POINTER);
        deallocPd = library.function("ibv_dealloc_pd", JAVA_INT, POINTER);
        regMr = library.function("ibv_reg_mr", POINTER, POINTER, POINTER, JAVA_LONG, JAVA_INT);
        deregMr = library.function("ibv_dereg_mr", JAVA_INT, POINTER);
        createCompChannel = library.function("ibv_create_comp_channel", POINTER, POINTER);
        destroyCompChannel = library.function("ibv_destroy_comp_channel", JAVA_INT, POINTER);
        createCq = library.function("ibv_create_cq", POINTER, POINTER, JAVA_INT, POINTER, POINTER,
                JAVA_INT);
        destroyCq = library.function("ibv_destroy_cq", JAVA_INT, POINTER);
        getCqEvent = library.function("ibv_get_cq_event", JAVA_INT, POINTER, SEGMENT, SEGMENT);
        ackCqEvents = library.procedure("ibv_ack_cq_events", POINTER, JAVA_INT);
        createQp = library.function("ibv_create_qp", POINTER, POINTER, SEGMENT);
        modifyQp = library.function("ibv_modify_qp", JAVA_INT, POINTER, SEGMENT, JAVA_INT);
        queryQp = library.function("ibv_query_qp", JAVA_INT, POINTER, SEGMENT, JAVA_INT, SEGMENT);
        destroyQp = library.function("ibv_destroy_qp", JAVA_INT, POINTER);
        getAsyncEvent = library.function("ibv_get_async_event", JAVA_INT, POINTER, SEGMENT);
        ackAsyncEvent = library.procedure("ibv_ack_async_event", SEGMENT);
        wcStatusStr = library.function("ibv_wc_status_str", POINTER, JAVA_INT);
    }

    static LibIbverbs load() throws VerbsUnavailableException {
        return new LibIbverbs(
                NativeLibrary.open("libibverbs.so.1", "install the distribution's libibverbs1"));
    }
}
