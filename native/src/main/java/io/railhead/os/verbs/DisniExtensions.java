package io.railhead.os.verbs;

import com.ibm.disni.verbs.IbvContext;
import com.ibm.disni.verbs.IbvMr;
import com.ibm.disni.verbs.IbvPd;
import com.ibm.disni.verbs.IbvQP;
import com.ibm.disni.verbs.IbvQPInitAttr;
import com.ibm.disni.verbs.IbvQpAttr;
import com.ibm.disni.verbs.RdmaCmEvent;
import com.ibm.disni.verbs.RdmaCmId;
import com.ibm.disni.verbs.RdmaConnParam;
import com.ibm.disni.verbs.RdmaProvider;
import com.ibm.disni.verbs.impl.RdmaProviderNat;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.List;

/** The extensions on DiSNI's own provider, which refuses all of them, each with its reason. */
final class DisniExtensions implements VerbsExtensions {

    /** Why DiSNI's JNI half, or the types above it, cannot do a thing. */
    private enum Gap {
        DEVICES("devices", "DiSNI opens devices only by way of an id"),
        OPEN("open", DEVICES.reason),
        CLOSE("close", DEVICES.reason),
        DEVICE_NAME("deviceName", "DiSNI does not know which device a context is"),
        LIMITS("limits", "DiSNI has no query_device"),
        PORT("port", "DiSNI has no query_port"),
        REGISTER("register", "DiSNI's registrations have an int length, at most 2 GiB"),
        DEREGISTER("deregister", "only for what register made"),
        CONN_PARAM("connParam",
                "DiSNI's accept carries no private data, and its depths are always 0: no READ"),
        PARAMETERS("parameters", "DiSNI's events carry no private data"),
        REJECT("reject", "DiSNI has no reject"),
        SET_ACK_TIMEOUT("setAckTimeout", "DiSNI has no set_option"),
        SET_TYPE_OF_SERVICE("setTypeOfService", "DiSNI has no set_option"),
        SET_REUSE_ADDRESS("setReuseAddress", "DiSNI has no set_option"),
        CREATE_QUEUE_PAIR("createQueuePair", "DiSNI makes queue pairs only on an id"),
        DESTROY_QUEUE_PAIR("destroyQueuePair", "only for what createQueuePair made"),
        QUEUE_PAIR_ATTRIBUTES("queuePairAttributes", "DiSNI has no modify_qp"),
        MODIFY("modify", "DiSNI has no modify_qp"),
        TO_ERROR("toError", "DiSNI has no modify_qp, so a transfer cannot be fenced"),
        CONNECTION_ATTRIBUTES("connectionAttributes", "DiSNI has no init_qp_attr"),
        ESTABLISH("establish", "DiSNI makes queue pairs only on an id"),
        QUERY("query", "DiSNI has no query_qp"),
        ASYNC_DESCRIPTOR("asyncDescriptor", "DiSNI has no async events"),
        NEXT_ASYNC_EVENT("nextAsyncEvent", "DiSNI has no async events"),
        PREPARE_SENDS("prepareSends",
                "DiSNI's prepared sends keep their opcode, immediate and number of entries"),
        PREPARE_RECEIVES("prepareReceives", "DiSNI's prepared receives cannot change"),
        COMPLETIONS("completions", "DiSNI polls into objects"),
        STATUS_TEXT("statusText", "DiSNI has no wc_status_str");

        private final String method;
        private final String reason;

        Gap(String method, String reason) {
            this.method = method;
            this.reason = reason;
        }

        UnsupportedOperationException decline() {
            return new UnsupportedOperationException(
                    method + " is declined by rdma.provider disni: " + reason);
        }
    }

    private DisniExtensions() {}

    static DisniExtensions install() throws VerbsUnavailableException {
        try {
            RdmaProvider provider = RdmaProvider.provider();
            if (!(provider instanceof RdmaProviderNat)) {
                throw new VerbsUnavailableException(
                        "this process uses " + provider.getClass().getName() + " already");
            }
            return new DisniExtensions();
        } catch (VerbsUnavailableException e) {
            throw e;
        } catch (IOException | LinkageError e) {
            throw new VerbsUnavailableException("libdisni cannot be loaded (" + e.getMessage()
                    + "); build it from DiSNI's sources, or set rdma.provider to foreign");
        }
    }

    static List<Declined> gaps() {
        return Arrays.stream(Gap.values())
                .map(gap -> new Declined(gap.method, gap.reason))
                .toList();
    }

    @Override
    public List<Declined> declined() {
        return gaps();
    }

    @Override
    public List<String> devices() {
        throw Gap.DEVICES.decline();
    }

    @Override
    public IbvContext open(String device) {
        throw Gap.OPEN.decline();
    }

    @Override
    public void close(IbvContext context) {
        throw Gap.CLOSE.decline();
    }

    @Override
    public String deviceName(IbvContext context) {
        throw Gap.DEVICE_NAME.decline();
    }

    @Override
    public DeviceLimits limits(IbvContext context) {
        throw Gap.LIMITS.decline();
    }

    @Override
    public PortAttributes port(IbvContext context, int port) {
        throw Gap.PORT.decline();
    }

    @Override
    public IbvMr register(IbvPd domain, long address, long bytes, int access) {
        throw Gap.REGISTER.decline();
    }

    @Override
    public void deregister(IbvMr registration) {
        throw Gap.DEREGISTER.decline();
    }

    @Override
    public RdmaConnParam connParam(ConnectionParameters parameters) {
        throw Gap.CONN_PARAM.decline();
    }

    @Override
    public ConnectionParameters parameters(RdmaCmEvent event) {
        throw Gap.PARAMETERS.decline();
    }

    @Override
    public void reject(RdmaCmId id, ByteBuffer privateData) {
        throw Gap.REJECT.decline();
    }

    @Override
    public void setAckTimeout(RdmaCmId id, int exponent) {
        throw Gap.SET_ACK_TIMEOUT.decline();
    }

    @Override
    public void setTypeOfService(RdmaCmId id, int typeOfService) {
        throw Gap.SET_TYPE_OF_SERVICE.decline();
    }

    @Override
    public void setReuseAddress(RdmaCmId id) {
        throw Gap.SET_REUSE_ADDRESS.decline();
    }

    @Override
    public IbvQP createQueuePair(IbvPd domain, IbvQPInitAttr attributes) {
        throw Gap.CREATE_QUEUE_PAIR.decline();
    }

    @Override
    public void destroyQueuePair(IbvQP queuePair) {
        throw Gap.DESTROY_QUEUE_PAIR.decline();
    }

    @Override
    public IbvQpAttr queuePairAttributes() {
        throw Gap.QUEUE_PAIR_ATTRIBUTES.decline();
    }

    @Override
    public void modify(IbvQP queuePair, IbvQpAttr attributes) {
        throw Gap.MODIFY.decline();
    }

    @Override
    public void toError(IbvQP queuePair) {
        throw Gap.TO_ERROR.decline();
    }

    @Override
    public IbvQpAttr connectionAttributes(RdmaCmId id, int state) {
        throw Gap.CONNECTION_ATTRIBUTES.decline();
    }

    @Override
    public void establish(RdmaCmId id) {
        throw Gap.ESTABLISH.decline();
    }

    @Override
    public IbvQpAttr query(IbvQP queuePair, int mask) {
        throw Gap.QUERY.decline();
    }

    @Override
    public int asyncDescriptor(IbvContext context) {
        throw Gap.ASYNC_DESCRIPTOR.decline();
    }

    @Override
    public AsyncEvent nextAsyncEvent(IbvContext context) {
        throw Gap.NEXT_ASYNC_EVENT.decline();
    }

    @Override
    public PreparedSends prepareSends(int requests, int entriesPerRequest) {
        throw Gap.PREPARE_SENDS.decline();
    }

    @Override
    public PreparedReceives prepareReceives(int requests, int entriesPerRequest) {
        throw Gap.PREPARE_RECEIVES.decline();
    }

    @Override
    public Completions completions(int capacity) {
        throw Gap.COMPLETIONS.decline();
    }

    @Override
    public String statusText(int status) {
        throw Gap.STATUS_TEXT.decline();
    }
}
