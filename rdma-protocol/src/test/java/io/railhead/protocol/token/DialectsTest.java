package io.railhead.protocol.token;

import static java.nio.charset.StandardCharsets.ISO_8859_1;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.InstanceOfAssertFactories.type;

import io.railhead.protocol.token.Recognition.Accepted;
import io.railhead.protocol.token.Recognition.Declined;
import io.railhead.protocol.token.Recognition.Malformed;
import io.railhead.protocol.token.Recognition.None;
import java.util.Base64;
import java.util.HashMap;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

class DialectsTest {
    static final Dialects USUAL = new Dialects(PutDecline.ERROR, Dialects.Served.ONLY_AMZ);
    static final Dialects ALL = new Dialects(PutDecline.ERROR,
            new Dialects.Served(true, true, true));
    private static final Token WINDOW = Token.loopback(0x7000, 4096, 0xcafe, 77);
    private static final String LOOPBACK = WINDOW.format();
    private static final String HEX_88 = "0123456789abcdef".repeat(5) + "01234567";
    private static final String TOKEN = "x-amz-rdma-token";

    @Test
    void aRequestWithoutTokenIsOrdinary() {
        assertThat(ALL.recognise(TokenOperation.GET, name -> null)).isEqualTo(new None());
    }

    @Test
    void aTokenIsServedWhoeverItsPeerIs() {
        assertThat(accepted(USUAL, Map.of(TOKEN, LOOPBACK))).isEqualTo(WINDOW);
        assertThat(accepted(USUAL, Map.of(TOKEN, " " + LOOPBACK + " "))).isEqualTo(WINDOW);
        assertThat(accepted(USUAL, Map.of(TOKEN, TokenTest.EXAMPLE)).format())
                .isEqualTo(TokenTest.EXAMPLE);
    }

    @Test
    void aTokenWithAddressAndSizeIsServedNarrowed() {
        Token part = Token.loopback(0x7010, 1, 0xcafe, 77);
        assertThat(accepted(USUAL,
                Map.of(TOKEN, LOOPBACK + ":0000000000007010:0000000000000001"))).isEqualTo(part);
        assertThat(accepted(USUAL,
                Map.of(TOKEN, LOOPBACK + ":0000000000007010:0000000000000001;")))
                .isEqualTo(part);
    }

    @ParameterizedTest
    @CsvSource({"x-rdma-info, rdma_info", "x-cuobj-rdma-descr, cuobj",
            "x-cuobj-content-length, cuobj", "x-cuobj-remote-buf-start, cuobj",
            "x-amz-rdma-protocol, hipobj", "x-amz-rdma-cookie, hipobj",
            "x-amz-meta-rdma-token, meta", "x-scal-rdma, scality"})
    void everyKnownHeaderIsRecognisedAndDeclined(String header, String name) {
        for (String value : new String[]{LOOPBACK, "", "?"}) {
            assertThat(recognise(USUAL, Map.of(header, value)))
                    .asInstanceOf(type(Declined.class))
                    .satisfies(declined -> {
                        assertThat(declined.dialect().name()).isEqualTo(name);
                        assertThat(declined.reason()).isEqualTo(name);
                    });
        }
        assertThat(Dialects.isHeader(header)).isTrue();
    }

    @Test
    void whatIsNoDialectsHeaderGoesOnToTheStore() {
        assertThat(Dialects.isHeader(TOKEN)).isTrue();
        assertThat(Dialects.isHeader("x-amz-rdma-agent")).isTrue();
        assertThat(Dialects.isHeader("x-amz-meta-rdma")).isFalse();
        assertThat(Dialects.isHeader("x-amz-meta-rdma-tokens")).isFalse();
        assertThat(Dialects.isHeader("x-amz-date")).isFalse();
    }

    @ParameterizedTest
    @CsvSource({"x-amz-rdma-protocol, hipobj-rc-v2, hipobj", "x-rdma-info, ?, rdma_info",
            "x-amz-meta-rdma-token, ?, meta"})
    void aHeaderOfItsOwnDecidesOverTheTokenBesideIt(String header, String value, String name) {
        assertThat(recognise(USUAL, Map.of(TOKEN, LOOPBACK, header, value)))
                .asInstanceOf(type(Declined.class))
                .satisfies(declined -> assertThat(declined.dialect().name()).isEqualTo(name));
    }

    @Test
    void theOtherKnownFormsOfTokenAreDeclined() {
        assertThat(declined("rc:0123456789abcdef0123456789abcdef:0000000000001000:00000010:1"))
                .isEqualTo("rc");
        assertThat(declined("0000000000001000:00000010:ofi1:tcp:0a0b:0c0d")).isEqualTo("ofi1");
        assertThat(declined(base64(LOOPBACK))).isEqualTo("base64");
        String address = LOOPBACK.substring(0, 16);
        assertThat(declined(base64(LOOPBACK + ":" + address + ":0000000000000001")))
                .isEqualTo("base64");
        assertThat(declined(HEX_88)).isEqualTo("hipobj");
        assertThat(declined(HEX_88 + ":1000:10")).isEqualTo("hipobj");
    }

    private static String base64(String token) {
        return Base64.getEncoder().encodeToString(token.getBytes(ISO_8859_1));
    }

    @Test
    void aTokenOfAPairedQueuePairIsReadWhereThatIsServed() {
        String token = "rc:0123456789abcdef0123456789abcdef:0000000000001000:00000010:00000001";
        assertThat(recognise(ALL, Map.of(TOKEN, token))).isEqualTo(new Recognition.Paired(
                ((Recognition.Paired) recognise(ALL, Map.of(TOKEN, token))).dialect(),
                List.of(TOKEN),
                new RcToken("0123456789abcdef0123456789abcdef", 0x1000, 16, 1)));
        assertThat(recognise(ALL, Map.of(TOKEN, token + "0")))
                .isInstanceOf(Recognition.Malformed.class);
        assertThat(declined(token)).isEqualTo("rc");
    }

    @ParameterizedTest
    @ValueSource(strings = {"", " ", "yes", "0102030405060708", "rc", "ofi1", "bm8gdG9rZW4="})
    void anythingElseIsMalformed(String token) {
        assertThat(recognise(USUAL, Map.of(TOKEN, token))).isInstanceOf(Malformed.class);
        assertThat(recognise(ALL, Map.of("x-rdma-info", token))).isInstanceOf(Malformed.class);
        assertThat(recognise(ALL, Map.of("x-cuobj-rdma-descr", token)))
                .isInstanceOf(Malformed.class);
    }

    @Test
    void aTokenIsNotReadFurtherThanAnyKnownFormGoes() {
        String endless = "rc:" + "0".repeat(TokenSyntax.MAX_CHARACTERS);
        assertThat(recognise(USUAL, Map.of(TOKEN, endless))).isInstanceOf(Malformed.class);
        assertThat(recognise(ALL, Map.of("x-rdma-info", endless))).isInstanceOf(Malformed.class);
    }

    @Test
    void anAliasIsServedWhereItIsSwitchedOn() {
        assertThat(recognise(ALL, Map.of("x-rdma-info", LOOPBACK)))
                .asInstanceOf(type(Accepted.class))
                .satisfies(accepted -> {
                    assertThat(accepted.dialect().name()).isEqualTo("rdma_info");
                    assertThat(accepted.headers()).containsExactly("x-rdma-info");
                    assertThat(accepted.token()).isEqualTo(WINDOW);
                });
    }

    @Test
    void theLegacyHeadersNameAPartOfTheWindow() {
        assertThat(accepted(ALL, cuobj(null, null))).isEqualTo(WINDOW);
        assertThat(accepted(ALL, cuobj("0", null))).isEqualTo(WINDOW);
        assertThat(accepted(ALL, cuobj("0", "100")))
                .isEqualTo(Token.loopback(0x7000, 100, 0xcafe, 77));
        assertThat(accepted(ALL, cuobj("28928", null)))
                .isEqualTo(Token.loopback(0x7100, 4096 - 0x100, 0xcafe, 77));
        assertThat(accepted(ALL, cuobj("28928", " 7 ")))
                .isEqualTo(Token.loopback(0x7100, 7, 0xcafe, 77));
        assertThat(recognise(ALL, cuobj("28928", "7"))).asInstanceOf(type(Accepted.class))
                .satisfies(accepted -> assertThat(accepted.headers()).containsExactly(
                        "x-cuobj-rdma-descr", "x-cuobj-content-length",
                        "x-cuobj-remote-buf-start"));
    }

    @ParameterizedTest
    @CsvSource({"28671, 1", "32768, 1", "28672, 4097", "32767, 2", "0, 0", "-1, 1", "0x7000, 1",
            "28672, 1e3", "99999999999999999999, 1", "28672, 18446744073709551615",
            "28672, 18446744073709551616", "'', 1", "28672, ''"})
    void whatIsNoPartOfTheWindowIsMalformed(String start, String length) {
        assertThat(recognise(ALL, cuobj(start, length))).isInstanceOf(Malformed.class);
    }

    @Test
    void aPartWithoutItsWindowIsMalformed() {
        assertThat(recognise(ALL, Map.of("x-cuobj-content-length", "10")))
                .isInstanceOf(Malformed.class);
    }

    @ParameterizedTest
    @ValueSource(longs = {1, 2, 3})
    void noTextMakesAParserThrow(long seed) {
        Random random = new Random(seed);
        String alphabet = "0123456789abcdefABCDEF:;rcofi1 \u00e9";
        for (int i = 0; i < 20_000; i++) {
            StringBuilder text = new StringBuilder(LOOPBACK);
            for (int edits = random.nextInt(6); edits >= 0; edits--) {
                text.setCharAt(random.nextInt(text.length()),
                        alphabet.charAt(random.nextInt(alphabet.length())));
            }
            String token = text.substring(0, random.nextInt(text.length() + 1));
            assertThat(recognise(ALL, Map.of(TOKEN, token))).isNotNull();
            assertThat(recognise(ALL, Map.of("x-rdma-info", token))).isNotNull();
            assertThat(recognise(ALL, cuobj(token.substring(token.length() / 2), "5")))
                    .isNotNull();
        }
    }

    @ParameterizedTest
    @ValueSource(longs = {4, 5, 6})
    void everyWindowThatIsPrintedIsReadAsItWas(long seed) {
        Random random = new Random(seed);
        for (int i = 0; i < 10_000; i++) {
            byte[] gid = new byte[16];
            random.nextBytes(gid);
            long length = 1 + random.nextLong(Token.MAX_LENGTH);
            Token token = new Token(random.nextLong(1, Long.MAX_VALUE - length), length,
                    random.nextInt(), random.nextInt(1 << 16), random.nextInt(1 << 24),
                    HexFormat.of().formatHex(gid));
            assertThat(accepted(USUAL, Map.of(TOKEN, token.format()))).isEqualTo(token);
        }
    }

    @ParameterizedTest
    @EnumSource(value = TokenOperation.class, names = "OTHER", mode = EnumSource.Mode.EXCLUDE)
    void operationsThatMoveAnObjectKnowTokens(TokenOperation tokenOperation) {
        assertThat(USUAL.recognise(tokenOperation, Map.of(TOKEN, LOOPBACK)::get))
                .isInstanceOf(Accepted.class);
    }

    @Test
    void allOtherOperationsIgnoreTokens() {
        assertThat(USUAL.recognise(TokenOperation.OTHER, Map.of(TOKEN, "?")::get))
                .isEqualTo(new None());
    }

    private static Map<String, String> cuobj(@org.jspecify.annotations.Nullable String start,
            @org.jspecify.annotations.Nullable String length) {
        Map<String, String> headers = new HashMap<>();
        headers.put("x-cuobj-rdma-descr", LOOPBACK);
        if (start != null) {
            headers.put("x-cuobj-remote-buf-start", start);
        }
        if (length != null) {
            headers.put("x-cuobj-content-length", length);
        }
        return headers;
    }

    private static Recognition recognise(Dialects dialects, Map<String, String> headers) {
        return dialects.recognise(TokenOperation.GET, headers::get);
    }

    private static Token accepted(Dialects dialects, Map<String, String> headers) {
        Recognition recognition = recognise(dialects, headers);
        assertThat(recognition).isInstanceOf(Accepted.class);
        return ((Accepted) recognition).token();
    }

    private static String declined(String token) {
        Recognition recognition = recognise(USUAL, Map.of(TOKEN, token));
        assertThat(recognition).isInstanceOf(Declined.class);
        return ((Declined) recognition).reason();
    }
}
