package io.railhead.os.verbs;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.reflect.Field;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Every number in {@link Layout} against the headers that are installed, by each compiler. */
final class LayoutTest {
    /** The structure of each class of constants, and fields that are not the constant's name. */
    private static final Map<String, String> STRUCTURES = Map.ofEntries(
            Map.entry("Context", "ibv_context"), Map.entry("Device", "ibv_device"),
            Map.entry("DeviceAttr", "ibv_device_attr"), Map.entry("PortAttr", "ibv_port_attr"),
            Map.entry("Mr", "ibv_mr"), Map.entry("CompChannel", "ibv_comp_channel"),
            Map.entry("Cq", "ibv_cq"), Map.entry("Qp", "ibv_qp"), Map.entry("QpCap", "ibv_qp_cap"),
            Map.entry("QpInitAttr", "ibv_qp_init_attr"), Map.entry("QpAttr", "ibv_qp_attr"),
            Map.entry("QpInitAttrEx", "ibv_qp_init_attr_ex"), Map.entry("QpEx", "ibv_qp_ex"),
            Map.entry("Mlx5QpInitAttr", "mlx5dv_qp_init_attr"),
            Map.entry("Mlx5QpEx", "mlx5dv_qp_ex"), Map.entry("SrqInitAttr", "ibv_srq_init_attr"),
            Map.entry("AhAttr", "ibv_ah_attr"), Map.entry("Sge", "ibv_sge"),
            Map.entry("SendWr", "ibv_send_wr"), Map.entry("RecvWr", "ibv_recv_wr"),
            Map.entry("Wc", "ibv_wc"), Map.entry("AsyncEvent", "ibv_async_event"),
            Map.entry("EventChannel", "rdma_event_channel"), Map.entry("CmId", "rdma_cm_id"),
            Map.entry("CmEvent", "rdma_cm_event"), Map.entry("ConnParam", "rdma_conn_param"));

    private static final Map<String, String> FIELDS = Map.ofEntries(
            Map.entry("Context.OPS_POLL_CQ", "ops.poll_cq"),
            Map.entry("Context.OPS_REQ_NOTIFY_CQ", "ops.req_notify_cq"),
            Map.entry("Context.OPS_POST_SEND", "ops.post_send"),
            Map.entry("Context.OPS_POST_RECV", "ops.post_recv"),
            Map.entry("SendWr.REMOTE_ADDR", "wr.rdma.remote_addr"),
            Map.entry("SendWr.RKEY", "wr.rdma.rkey"), Map.entry("AhAttr.DGID", "grh.dgid"),
            Map.entry("AhAttr.FLOW_LABEL", "grh.flow_label"),
            Map.entry("AhAttr.SGID_INDEX", "grh.sgid_index"),
            Map.entry("AhAttr.HOP_LIMIT", "grh.hop_limit"),
            Map.entry("AhAttr.TRAFFIC_CLASS", "grh.traffic_class"),
            Map.entry("Mlx5QpInitAttr.DC_TYPE", "dc_init_attr.dc_type"),
            Map.entry("Mlx5QpInitAttr.DCT_ACCESS_KEY", "dc_init_attr.dct_access_key"),
            Map.entry("SrqInitAttr.MAX_WR", "attr.max_wr"),
            Map.entry("SrqInitAttr.MAX_SGE", "attr.max_sge"),
            Map.entry("CmId.SRC_ADDR", "route.addr.src_addr"),
            Map.entry("CmId.DST_ADDR", "route.addr.dst_addr"),
            Map.entry("CmEvent.CONN", "param.conn"));

    private static final Map<String, String> EXPRESSIONS = Map.of("SockAddr.AF_INET", "AF_INET",
            "SockAddr.AF_INET6", "AF_INET6", "SockAddr.SIZE", "sizeof(struct sockaddr_in6)",
            "SockAddr.FAMILY", "offsetof(struct sockaddr_in, sin_family)", "SockAddr.PORT",
            "offsetof(struct sockaddr_in6, sin6_port)", "SockAddr.IPV4",
            "offsetof(struct sockaddr_in, sin_addr)", "SockAddr.IPV6",
            "offsetof(struct sockaddr_in6, sin6_addr)", "SockAddr.IPV6_SCOPE",
            "offsetof(struct sockaddr_in6, sin6_scope_id)");

    @TempDir
    private Path folder;

    @ParameterizedTest
    @ValueSource(strings = {"gcc", "aarch64-linux-gnu-gcc"})
    void theConstantsAreThoseOfTheHeaders(String compiler) throws Exception {
        assertThat(compile(compiler, assertions(compiler.startsWith("aarch64")
                ? "aarch64"
                : System.getProperty("os.arch")))).isEmpty();
    }

    /** The check above must be able to fail. */
    @Test
    void aWrongConstantIsFound() throws Exception {
        Map<String, Long> wrong = Map.of("sizeof(struct ibv_send_wr)", Layout.SendWr.SIZE + 8);
        assertThat(compile("gcc", wrong)).contains("sizeof(struct ibv_send_wr)");
    }

    private static Map<String, Long> assertions(String machine) throws IllegalAccessException {
        Map<String, Long> assertions = new TreeMap<>();
        assertions.put("sizeof(struct ibv_qp)", Layout.Qp.size(machine));
        for (Class<?> group : Layout.class.getDeclaredClasses()) {
            for (Field constant : group.getDeclaredFields()) {
                assertions.put(expression(group.getSimpleName(), constant.getName()),
                        ((Number) constant.get(null)).longValue());
            }
        }
        for (Field constant : QueuePairMask.class.getFields()) {
            assertions.put("IBV_QP_" + constant.getName(),
                    ((Number) constant.get(null)).longValue());
        }
        for (AsyncEvent.Type type : AsyncEvent.Type.values()) {
            if (type != AsyncEvent.Type.UNKNOWN) {
                assertions.put("IBV_EVENT_" + type, (long) type.value);
            }
        }
        assertions.put("IBV_WC_WR_FLUSH_ERR", (long) Completions.FLUSHED);
        assertions.put("IBV_WC_REM_INV_REQ_ERR", (long) Completions.REMOTE_INVALID_REQUEST);
        assertions.put("IBV_WC_REM_OP_ERR", (long) Completions.REMOTE_OPERATION_ERROR);
        assertions.put("IBV_WC_REM_ACCESS_ERR", (long) Completions.REMOTE_ACCESS_ERROR);
        assertions.put("IBV_WC_RETRY_EXC_ERR", (long) Completions.RETRY_EXCEEDED);
        assertions.put("IBV_WC_RNR_RETRY_EXC_ERR", (long) Completions.RNR_RETRY_EXCEEDED);
        assertions.put("IBV_WC_RECV", (long) Completions.RECEIVE);
        assertions.put("IBV_WC_RECV_RDMA_WITH_IMM", (long) Completions.RECEIVE_WITH_IMMEDIATE);
        return assertions;
    }

    private static String expression(String group, String constant) {
        String name = group + "." + constant;
        if (group.equals("Constant")) {
            return constant;
        }
        if (EXPRESSIONS.containsKey(name)) {
            return EXPRESSIONS.get(name);
        }
        String structure = "struct " + STRUCTURES.get(group);
        if (group.equals("QpEx")) {
            return "offsetof(" + structure + ", " + lower(constant) + ") - sizeof(struct ibv_qp)";
        }
        return constant.equals("SIZE")
                ? "sizeof(" + structure + ")"
                : "offsetof(" + structure + ", " + FIELDS.getOrDefault(name, lower(constant)) + ")";
    }

    private static String lower(String constant) {
        return constant.toLowerCase(Locale.ROOT);
    }

    private String compile(String compiler, Map<String, Long> assertions) throws Exception {
        List<String> lines = new ArrayList<>(List.of("#include <stddef.h>",
                "#include <netinet/in.h>", "#include <infiniband/verbs.h>",
                "#include <infiniband/mlx5dv.h>", "#include <rdma/rdma_cma.h>"));
        assertions.forEach((expression, value) -> lines.add("_Static_assert((" + expression
                + ") == " + value + ", \"" + expression + " is not " + value + "\");"));
        Path source = Files.write(folder.resolve("layout.c"), lines);
        return new RdmaCoreHeaders(folder).compile(compiler, source, "-fsyntax-only");
    }
}
