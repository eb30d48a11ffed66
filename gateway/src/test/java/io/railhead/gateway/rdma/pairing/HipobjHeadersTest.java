package io.railhead.gateway.rdma.pairing;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.railhead.backend.Headers;
import io.railhead.protocol.token.TokenOperation;
import io.railhead.rdma.pairing.RcDescriptor;
import java.net.InetAddress;
import java.util.HexFormat;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class HipobjHeadersTest {
    private static final RcDescriptor DESCRIPTOR = new RcDescriptor(0x123,
            InetAddress.ofLiteral("10.99.0.2"), 0, 0, 0, 1, 0);
    private final Map<String, String> headers = new LinkedHashMap<>(Map.of(
            "x-amz-rdma-protocol", "hipobj-rc-v2",
            "x-amz-rdma-token", DESCRIPTOR.format(),
            "x-amz-rdma-psn", "00000f",
            "x-amz-rdma-cookie", "DEADbeef",
            "x-amz-rdma-op", "GET",
            "x-amz-rdma-target", "/bucket/a%20key?versionId=v",
            "x-amz-rdma-size", "4096",
            "x-amz-rdma-offset", "8192"));

    private static Headers headers(Map<String, String> values) {
        Headers.Builder builder = Headers.builder();
        values.forEach(builder::add);
        return builder.build();
    }

    private HipobjTarget target() {
        return HipobjTarget.of(HipobjHeaders.prepare(headers(headers)));
    }

    @Test
    void aGetIsReadFieldByField() {
        HipobjTarget target = target();
        assertThat(target.asked()).isEqualTo(new HipobjHeaders.Prepare(DESCRIPTOR, 15, 0xDEADBEEF,
                false, "/bucket/a%20key?versionId=v", 4096, 8192));
        assertThat(target.asked().range()).isEqualTo("bytes=8192-12287");
        assertThat(target.address().key()).isEqualTo("a key");
        assertThat(target.kind()).isEqualTo(TokenOperation.GET);
    }

    @Test
    void anAddressAndASizeBehindTheTokenSayNothing() {
        headers.merge("x-amz-rdma-token", ":7f00:10", String::concat);
        assertThat(target().asked().descriptor()).isEqualTo(DESCRIPTOR);
    }

    @Test
    void withoutAnOffsetItBeginsAtTheBeginning() {
        headers.remove("x-amz-rdma-offset");
        assertThat(target().asked().offset()).isZero();
    }

    @ParameterizedTest
    @CsvSource({"/b/k,PUT", "/b/k?uploadId=u&partNumber=7,PART"})
    void aPutIsOfAnObjectOrAPart(String path, TokenOperation kind) {
        headers.put("x-amz-rdma-op", "PUT");
        headers.put("x-amz-rdma-target", path);
        headers.put("x-amz-rdma-offset", "0");
        assertThat(target().kind()).isEqualTo(kind);
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', value = {
            "x-amz-rdma-token | 00", "x-amz-rdma-token | ''", "x-amz-rdma-psn | 000000",
            "x-amz-rdma-psn | 1000000", "x-amz-rdma-psn | f", "x-amz-rdma-psn | 00000g",
            "x-amz-rdma-cookie | 1", "x-amz-rdma-cookie | 123456789", "x-amz-rdma-op | get",
            "x-amz-rdma-op | DELETE", "x-amz-rdma-size | 0", "x-amz-rdma-size | -1",
            "x-amz-rdma-size | 2147483648", "x-amz-rdma-size | 1e3", "x-amz-rdma-offset | x",
            "x-amz-rdma-offset | 9999999999999999999", "x-amz-rdma-target | b/k",
            "x-amz-rdma-target | /b", "x-amz-rdma-target | /b/", "x-amz-rdma-target | /../k",
            "x-amz-rdma-target | //k", "x-amz-rdma-target | /b/%zz",
            "x-amz-rdma-target | /b/k?acl", "x-amz-rdma-target | /b/k?partNumber=1"})
    void whatIsMalformedIsRefused(String name, String value) {
        headers.put(name, value);
        assertThatThrownBy(this::target).isInstanceOf(IllegalArgumentException.class);
    }

    @ParameterizedTest
    @CsvSource({"/b/k?versionId=v", "/b/k?uploadId=u", "/b/k?uploadId=u&partNumber=1&acl"})
    void aPutHasNoOtherQuery(String path) {
        headers.put("x-amz-rdma-op", "PUT");
        headers.put("x-amz-rdma-target", path);
        headers.remove("x-amz-rdma-offset");
        assertThatThrownBy(this::target).isInstanceOf(IllegalArgumentException.class);
    }

    @Test
    void eachHeaderButTheOffsetIsNeeded() {
        for (String name : headers.keySet().toArray(new String[0])) {
            if (name.equals("x-amz-rdma-protocol") || name.equals("x-amz-rdma-offset")) {
                continue;
            }
            Map<String, String> less = new LinkedHashMap<>(headers);
            less.remove(name);
            assertThatThrownBy(() -> HipobjHeaders.prepare(headers(less)))
                    .hasMessage(name + " is missing");
        }
    }

    @Test
    void whatAClientIsReadyWithIsReadForAnyFields() {
        Random random = new Random(5);
        HexFormat hex = HexFormat.of();
        for (int i = 0; i < 1000; i++) {
            int cookie = random.nextInt();
            int queuePair = random.nextInt(1 << 24);
            long address = random.nextLong();
            int key = random.nextInt();
            String session = hex.toHexDigits(random.nextLong()) + hex.toHexDigits(address);
            assertThat(HipobjHeaders.ready(headers(Map.of(
                    "x-amz-rdma-session", session,
                    "x-amz-rdma-cookie", hex.toHexDigits(cookie),
                    "x-amz-rdma-qpn", Integer.toHexString(queuePair),
                    "x-amz-rdma-mr-addr", Long.toHexString(address),
                    "x-amz-rdma-mr-rkey", hex.toHexDigits(key)))))
                    .isEqualTo(new HipobjHeaders.Ready(session, cookie, queuePair, address,
                            key));
        }
    }
}
