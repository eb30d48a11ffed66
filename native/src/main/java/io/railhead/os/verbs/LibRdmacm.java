package io.railhead.os.verbs;

import static io.railhead.os.verbs.NativeLibrary.POINTER;
import static io.railhead.os.verbs.NativeLibrary.SEGMENT;
import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import java.lang.invoke.MethodHandle;

/** librdmacm.so.1: its exported functions. */
final class LibRdmacm {
    final MethodHandle getDevices;
    final MethodHandle freeDevices;
    /** malloc: librdmacm frees the lists that are returned to it. */
    final MethodHandle allocate;
    final MethodHandle createEventChannel;
    final MethodHandle destroyEventChannel;
    final MethodHandle createId;
    final MethodHandle destroyId;
    final MethodHandle bindAddr;
    final MethodHandle listen;
    final MethodHandle resolveAddr;
    final MethodHandle resolveRoute;
    final MethodHandle createQp;
    final MethodHandle destroyQp;
    final MethodHandle connect;
    final MethodHandle accept;
    final MethodHandle reject;
    final MethodHandle disconnect;
    final MethodHandle getCmEvent;
    final MethodHandle ackCmEvent;
    final MethodHandle setOption;
    final MethodHandle initQpAttr;
    final MethodHandle establish;

    private LibRdmacm(NativeLibrary library) throws VerbsUnavailableException {
        getDevices = library.function("rdma_get_devices", POINTER, SEGMENT);
        freeDevices = library.procedure("rdma_free_devices", POINTER);
        allocate = NativeLibrary.ofProcess().function("malloc", POINTER, JAVA_LONG);
        createEventChannel = library.function("rdma_create_event_channel", POINTER);
        destroyEventChannel = library.procedure("rdma_destroy_event_channel", POINTER);
        createId = library.function("rdma_create_id", JAVA_INT, POINTER, SEGMENT, POINTER,
                JAVA_INT);
        destroyId = library.function("rdma_destroy_id", JAVA_INT, POINTER);
        bindAddr = library.function("rdma_bind_addr", JAVA_INT, POINTER, SEGMENT);
        listen = library.function("rdma_listen", JAVA_INT, POINTER, JAVA_INT);
        resolveAddr = library.function("rdma_resolve_addr", JAVA_INT, POINTER, SEGMENT, SEGMENT,
                JAVA_INT);
        resolveRoute = library.function("rdma_resolve_route", JAVA_INT, POINTER, JAVA_INT);
        createQp = library.function("rdma_create_qp", JAVA_INT, POINTER, POINTER, SEGMENT);
        destroyQp = library.procedure("rdma_destroy_qp", POINTER);
        connect = library.function("rdma_connect", JAVA_INT, POINTER, SEGMENT);
        accept = library.function("rdma_accept", JAVA_INT, POINTER, SEGMENT);
        reject = library.function("rdma_reject", JAVA_INT, POINTER, SEGMENT, JAVA_BYTE);
        disconnect = library.function("rdma_disconnect", JAVA_INT, POINTER);
        getCmEvent = library.function("rdma_get_cm_event", JAVA_INT, POINTER, SEGMENT);
        ackCmEvent = library.function("rdma_ack_cm_event", JAVA_INT, POINTER);
        setOption = library.function("rdma_set_option", JAVA_INT, POINTER, JAVA_INT, JAVA_INT,
                SEGMENT, POINTER);
        initQpAttr = library.function("rdma_init_qp_attr", JAVA_INT, POINTER, SEGMENT, SEGMENT);
        establish = library.function("rdma_establish", JAVA_INT, POINTER);
    }

    static LibRdmacm load() throws VerbsUnavailableException {
        return new LibRdmacm(
                NativeLibrary.open("librdmacm.so.1", "install the distribution's librdmacm1"));
    }
}
