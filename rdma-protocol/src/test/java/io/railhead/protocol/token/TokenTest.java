package io.railhead.protocol.token;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.railhead.protocol.token.TokenSyntax.Parsed;
import java.util.Locale;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class TokenTest {
    static final String EXAMPLE = "0102030405060708:01020304:01020304:0102:010203:1:"
            + "0102030405060708090a0b0c0d0e0f10";

    @Test
    void thePublishedExampleIsReadFieldByField() {
        assertThat(valid(EXAMPLE)).isEqualTo(new Token(0x0102030405060708L, 0x01020304L, 0x01020304,
                0x0102, 0x010203, "0102030405060708090a0b0c0d0e0f10"));
    }

    @Test
    void aTokenIsPrintedAsItWasRead() {
        assertThat(EXAMPLE).hasSize(81);
        assertThat(valid(EXAMPLE).format()).isEqualTo(EXAMPLE);
    }

    @Test
    void whatIsPrintedIsReadBackForAnyFields() {
        Random random = new Random(7);
        for (int i = 0; i < 10_000; i++) {
            long length = 1 + random.nextLong(Token.MAX_LENGTH);
            Token token = new Token(random.nextLong(0, Long.MAX_VALUE) * 2, length,
                    random.nextInt(), random.nextInt(1 << 16), random.nextInt(1 << 24),
                    Token.LOOPBACK_GID);
            assertThat(token.format()).hasSize(81);
            assertThat(valid(token.format())).isEqualTo(token);
        }
    }

    @Test
    void theLocaleDoesNotChangeTheDigits() {
        Locale before = Locale.getDefault();
        Locale.setDefault(Locale.forLanguageTag("ar-EG-u-nu-arab"));
        try {
            assertThat(valid(EXAMPLE).format()).isEqualTo(EXAMPLE);
        } finally {
            Locale.setDefault(before);
        }
    }

    @Test
    void aTokenWithoutGidHasZeros() {
        String none = EXAMPLE.replace(":1:", ":0:");
        assertThat(valid(none).gid()).isEqualTo("0".repeat(32));
        assertThat(valid(none).format()).contains(":0:" + "0".repeat(32));
    }

    @Test
    void theLastByteOfTheAddressSpaceMayBeInTheWindow() {
        assertThat(valid(EXAMPLE.replace("0102030405060708:01020304", "ffffffffffffffff:00000001"))
                .address()).isEqualTo(-1L);
    }

    @ParameterizedTest
    @ValueSource(strings = {"", ":", "::::::", "0102030405060708", "loopback",
            // One field too few, one too many.
            "0102030405060708:01020304:01020304:0102:010203:0102030405060708090a0b0c0d0e0f10",
            "0102030405060708:01020304:01020304:0102:010203:1:0102030405060708090a0b0c0d0e0f10:0",
            // Widths.
            "102030405060708:01020304:01020304:0102:010203:1:0102030405060708090a0b0c0d0e0f10",
            "0102030405060708:01020304:01020304:0102:010203:1:0102030405060708090a0b0c0d0e0f1",
            "0102030405060708:001020304:0102030:0102:010203:1:0102030405060708090a0b0c0d0e0f10",
            // Digits.
            "0102030405060708:0102030A:01020304:0102:010203:1:0102030405060708090a0b0c0d0e0f10",
            "0102030405060708:0102030g:01020304:0102:010203:1:0102030405060708090a0b0c0d0e0f10",
            "0102030405060708:+1020304:01020304:0102:010203:1:0102030405060708090a0b0c0d0e0f10",
            "0102030405060708:0102030\u0661:01020304:0102:010203:1:0102030405060708090a0b0c0d0e0f10",
            // GID flag, empty window, a window that wraps, a semicolon without suffix.
            "0102030405060708:01020304:01020304:0102:010203:2:0102030405060708090a0b0c0d0e0f10",
            "0102030405060708:01020304:01020304:0102:010203:1:00000000000000000000000000000000",
            "0102030405060708:00000000:01020304:0102:010203:1:0102030405060708090a0b0c0d0e0f10",
            "ffffffffffffffff:00000002:01020304:0102:010203:1:0102030405060708090a0b0c0d0e0f10",
            "0102030405060708:01020304:01020304:0102:010203:1:0102030405060708090a0b0c0d0e0f10;"})
    void whatIsNotExactlyATokenIsInvalid(String text) {
        assertThat(TokenSyntax.parse(text)).isInstanceOf(Parsed.Invalid.class);
    }

    @ParameterizedTest
    @ValueSource(strings = {"", ";"})
    void aSuffixNarrowsTheWindow(String end) {
        Token narrowed = valid(EXAMPLE + ":0102030405060718:0000000000000010" + end);
        assertThat(narrowed.address()).isEqualTo(0x0102030405060718L);
        assertThat(narrowed.length()).isEqualTo(16);
        assertThat(narrowed.key()).isEqualTo(valid(EXAMPLE).key());
    }

    @Test
    void aSuffixMayNameTheWholeWindow() {
        assertThat(valid(EXAMPLE + ":0102030405060708:0000000001020304"))
                .isEqualTo(valid(EXAMPLE));
    }

    @ParameterizedTest
    @ValueSource(strings = {":0102030405060707:0000000000000001", // before
            ":0102030405060708:0000000001020305", // longer
            ":0102030406080a0c:0000000000000001", // after
            ":0102030405060709:0000000001020304", // over the end
            ":0102030405060708:0000000000000000", // empty
            ":0102030405060709:ffffffffffffffff", // wraps
            ":0102030405060708:00000001", ":0102030405060708", ":0102030405060708:;"})
    void aSuffixOutsideTheWindowIsInvalid(String suffix) {
        assertThat(TokenSyntax.parse(EXAMPLE + suffix)).isInstanceOf(Parsed.Invalid.class);
    }

    @Test
    void aTokenThatCouldNotBePrintedCannotBeMade() {
        assertThatThrownBy(() -> Token.loopback(0, 0, 1, 1)).hasMessageContaining("length");
        assertThatThrownBy(() -> Token.loopback(0, 1L << 32, 1, 1)).hasMessageContaining("length");
        assertThatThrownBy(() -> Token.loopback(-1, 2, 1, 1)).hasMessageContaining("wrap");
        assertThatThrownBy(() -> Token.loopback(0, 1, 1, 1 << 24)).hasMessageContaining("session");
        assertThatThrownBy(() -> new Token(0, 1, 1, 1 << 16, 1, Token.LOOPBACK_GID))
                .hasMessageContaining("lid");
        assertThatThrownBy(() -> new Token(0, 1, 1, 1, 1, "xy")).hasMessageContaining("gid");
    }

    private static Token valid(String text) {
        assertThat(TokenSyntax.parse(text)).isInstanceOf(Parsed.Valid.class);
        return ((Parsed.Valid) TokenSyntax.parse(text)).token();
    }
}
