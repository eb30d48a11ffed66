package io.railhead.backend;

import static java.nio.charset.StandardCharsets.ISO_8859_1;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

final class PercentCodecTest {

    @ParameterizedTest
    @CsvSource(quoteCharacter = '`', value = {"a/b, a/b", "%61%2fb, a/b", "a+b, a+b",
            "%C3%A9, é", "%00, `\u0000`"})
    void aNameIsDecodedAndAPlusSignStays(String raw, String name) {
        assertThat(PercentCodec.decodeName(raw)).isEqualTo(name);
    }

    @ParameterizedTest
    @ValueSource(strings = {"%", "a%4", "%zz", "%4g", "%+1", "%-1", "% 1", "%C3%A"})
    void aMalformedEscapeIsRefused(String raw) {
        assertThatThrownBy(() -> PercentCodec.decodeName(raw))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessage("a percent sign must be followed by two hex digits");
        assertThatThrownBy(() -> PercentCodec.canonicalPath(raw))
                .isInstanceOf(IllegalArgumentException.class);
        assertThatThrownBy(() -> PercentCodec.canonicalQueryPart(raw))
                .isInstanceOf(IllegalArgumentException.class);
    }

    @ParameterizedTest
    @ValueSource(strings = {"%FF", "%C3", "%C0%AF", "%ED%A0%80"})
    void aNameThatIsNotUtf8IsRefused(String raw) {
        assertThatThrownBy(() -> PercentCodec.decodeName(raw))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessage("a name must be UTF-8");
        assertThat(PercentCodec.decodeBytes(raw)).isEqualTo(
                new String(PercentCodec.decodeLeniently(raw), ISO_8859_1));
    }

    @Test
    void aMalformedEscapeStandsForItselfWhereThatIsAllowed() {
        assertThat(new String(PercentCodec.decodeLeniently("%41%4%zz%"), ISO_8859_1))
                .isEqualTo("A%4%zz%");
    }

    @Test
    void onlyUnreservedCharactersAreNotEncoded() {
        assertThat(PercentCodec.encode("aZ09-._~/+ %é")).isEqualTo("aZ09-._~%2F%2B%20%25%C3%A9");
        assertThat(PercentCodec.encodePath("a//b/../é")).isEqualTo("a//b/../%C3%A9");
    }

    @ParameterizedTest
    @CsvSource({"/b/k~,/b/k~", "/b/%6b%7E,/b/k~", "/b/a%2fb,/b/a%2Fb", "/b//../k,/b//../k",
            "/b/a+b,/b/a%2Bb", "/b/(1),/b/%281%29", "/b/\u00e9,/b/%E9"})
    void aPathHasOneSpelling(String raw, String canonical) {
        assertThat(PercentCodec.canonicalPath(raw)).isEqualTo(canonical);
        assertThat(PercentCodec.canonicalPath(canonical)).isEqualTo(canonical);
    }

    @Test
    void aPlusSignOfAQueryIsASpaceAndASlashIsEncoded() {
        assertThat(PercentCodec.canonicalQueryPart("a+b%2B/c")).isEqualTo("a%20b%2B%2Fc");
    }

    @Test
    void bytesFromTheWireAreEscaped() {
        assertThat(PercentCodec.ascii("/k\u00e9%41")).isEqualTo("/k%E9%41");
        assertThatThrownBy(() -> PercentCodec.ascii("\u0100"))
                .isInstanceOf(IllegalArgumentException.class);
    }
}
