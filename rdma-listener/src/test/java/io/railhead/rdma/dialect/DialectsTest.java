package io.railhead.rdma.dialect;

import static org.assertj.core.api.Assertions.assertThat;

import io.railhead.rdma.dialect.Recognition.Accepted;
import io.railhead.rdma.dialect.Recognition.Declined;
import io.railhead.rdma.dialect.Recognition.Malformed;
import io.railhead.rdma.dialect.Recognition.None;
import java.util.Map;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

class DialectsTest {
    private static final String LOOPBACK = Token.loopback(0x7000, 4096, 0xcafe, 77).format();
    private static final String HEX_88 = "0123456789abcdef".repeat(5) + "01234567";

    @Test
    void aRequestWithoutTokenIsOrdinary() {
        assertThat(Dialects.recognise(name -> null)).isEqualTo(new None());
    }

    @Test
    void aLoopbackTokenIsServed() {
        assertThat(recognise("x-amz-rdma-token", LOOPBACK)).isEqualTo(new Accepted(Dialect.AMZ,
                "x-amz-rdma-token", Token.loopback(0x7000, 4096, 0xcafe, 77)));
    }

    @Test
    void aLoopbackTokenWithSuffixIsServedNarrowed() {
        assertThat(recognise("x-amz-rdma-token",
                LOOPBACK + ":0000000000007010:0000000000000001;")).isEqualTo(
                        new Accepted(Dialect.AMZ, "x-amz-rdma-token",
                                Token.loopback(0x7010, 1, 0xcafe, 77)));
    }

    @ParameterizedTest
    @CsvSource({"x-rdma-info, RDMA_INFO, rdma-info", "x-cuobj-rdma-descr, CUOBJ, cuobj",
            "x-cuobj-content-length, CUOBJ, cuobj", "x-cuobj-remote-buf-start, CUOBJ, cuobj",
            "x-amz-rdma-protocol, HIPOBJ, hipobj", "x-amz-rdma-cookie, HIPOBJ, hipobj",
            "x-amz-meta-rdma-token, META, meta", "x-scal-rdma, SCALITY, scality"})
    void everyKnownHeaderIsRecognisedAndDeclined(String header, Dialect dialect, String reason) {
        assertThat(recognise(header, LOOPBACK)).isEqualTo(new Declined(dialect, header, reason));
        assertThat(recognise(header, "")).isEqualTo(new Declined(dialect, header, reason));
    }

    @Test
    void aProtocolHeaderDecidesOverTheTokenBesideIt() {
        Map<String, String> headers = Map.of("x-amz-rdma-token", LOOPBACK, "x-amz-rdma-protocol",
                "hipobj-rc-v2");
        assertThat(Dialects.recognise(headers::get))
                .isEqualTo(new Declined(Dialect.HIPOBJ, "x-amz-rdma-protocol", "hipobj"));
    }

    @Test
    void aTokenOfAnotherFabricIsDeclined() {
        assertThat(declined(TokenTest.EXAMPLE)).isEqualTo("fabric");
        assertThat(declined(LOOPBACK.replace(":1:", ":0:"))).isEqualTo("fabric");
    }

    @Test
    void theOtherKnownFormsOfTokenAreDeclined() {
        assertThat(declined("rc:0123456789abcdef0123456789abcdef:0000000000001000:00000010:1"))
                .isEqualTo("rc");
        assertThat(declined("0000000000001000:00000010:ofi1:tcp:0a0b:0c0d")).isEqualTo("ofi1");
        assertThat(recognise("x-amz-rdma-token", HEX_88)).isEqualTo(
                new Declined(Dialect.HIPOBJ, "x-amz-rdma-token", "hipobj"));
        assertThat(recognise("x-amz-rdma-token", HEX_88 + ":1000:10")).isEqualTo(
                new Declined(Dialect.HIPOBJ, "x-amz-rdma-token", "hipobj"));
    }

    @ParameterizedTest
    @ValueSource(strings = {"", " ", "yes", "0102030405060708", "rc", "ofi1"})
    void anythingElseIsMalformed(String token) {
        assertThat(recognise("x-amz-rdma-token", token)).isInstanceOf(Malformed.class);
    }

    @Test
    void aTokenIsNotReadFurtherThanAnyKnownFormGoes() {
        assertThat(recognise("x-amz-rdma-token", "rc:" + "0".repeat(AmzTokens.MAX_CHARACTERS)))
                .isInstanceOf(Malformed.class);
    }

    @ParameterizedTest
    @ValueSource(longs = {1, 2, 3})
    void noTextMakesTheParserThrow(long seed) {
        Random random = new Random(seed);
        String alphabet = "0123456789abcdefABCDEF:;rcofi1 \u00e9";
        for (int i = 0; i < 20_000; i++) {
            StringBuilder text = new StringBuilder(LOOPBACK);
            for (int edits = random.nextInt(6); edits >= 0; edits--) {
                text.setCharAt(random.nextInt(text.length()),
                        alphabet.charAt(random.nextInt(alphabet.length())));
            }
            assertThat(recognise("x-amz-rdma-token",
                    text.substring(0, random.nextInt(text.length() + 1)))).isNotNull();
        }
    }

    @ParameterizedTest
    @EnumSource(value = Operation.class, names = "OTHER", mode = EnumSource.Mode.EXCLUDE)
    void operationsThatMoveAnObjectKnowTokens(Operation operation) {
        assertThat(Dialects.recognise(operation, Map.of("x-amz-rdma-token", LOOPBACK)::get))
                .isInstanceOf(Accepted.class);
    }

    @Test
    void allOtherOperationsIgnoreTokens() {
        assertThat(Dialects.recognise(Operation.OTHER, Map.of("x-amz-rdma-token", "?")::get))
                .isEqualTo(new None());
    }

    private static Recognition recognise(String header, String value) {
        return Dialects.recognise(Map.of(header, value)::get);
    }

    private static String declined(String token) {
        assertThat(recognise("x-amz-rdma-token", token)).isInstanceOf(Declined.class);
        return ((Declined) recognise("x-amz-rdma-token", token)).reason();
    }
}
