package io.railhead.backend.aws;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import java.io.ByteArrayOutputStream;
import java.util.Arrays;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class RawUriTest {
    private static final int ROUNDS = 2000;

    @ParameterizedTest
    @CsvSource(delimiter = '|', value = {"/a//b|/a//b", "//|//", "/./x/../y|/./x/../y",
            "/%2e%2E/x|/../x", "/a%2fb|/a/b", "/a+b|/a%2Bb", "/a%2bb|/a%2Bb", "/a%20b|/a%20b",
            "/(b)|/%28b%29", "/%7e-_.|/~-_.", "/%25|/%25", "/%2525|/%2525", "/\u00fc|/%C3%BC",
            "/%c3%bc|/%C3%BC", "/%ff|/%FF", "/%00|/%00"})
    void aByteIsSpeltInOneWay(String raw, String canonical) {
        assertThat(RawUri.canonicalPath(raw)).isEqualTo(canonical);
    }

    /** There is no byte that they could stand for, so they are characters of the key. */
    @ParameterizedTest
    @CsvSource({"/%,/%25", "/%4,/%254", "/%zz,/%25zz", "/%%41,/%25A", "/a%,/a%25"})
    void aBrokenEscapeIsKeptAsText(String raw, String canonical) {
        assertThat(RawUri.canonicalPath(raw)).isEqualTo(canonical);
    }

    @Test
    void everyPathKeepsItsBytesHoweverTheyAreWritten() {
        Random random = new Random(42);
        for (int round = 0; round < ROUNDS; round++) {
            byte[] key = new byte[random.nextInt(40)];
            random.nextBytes(key);
            String canonical = RawUri.canonicalPath(escaped(key, random));
            assertThat(bytes(canonical)).as(Arrays.toString(key)).isEqualTo(key);
            assertThat(RawUri.canonicalPath(canonical)).isEqualTo(canonical);
        }
    }

    @Test
    void parametersKeepTheirOrderAndTheirRepetitions() {
        assertThat(RawUri.canonicalQuery("b=1&a=2&b=3&acl&versionId="))
                .isEqualTo("?b=1&a=2&b=3&acl&versionId=");
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', value = {"p=a+b|p=a%20b", "p=a%20b|p=a%20b", "p=a%2Bb|p=a%2Bb",
            "p=a=b|p=a%3Db", "p=a%26b|p=a%26b", "p=a/b|p=a%2Fb", "p=%c3%bc|p=%C3%BC",
            "p=\u00fc|p=%C3%BC", "%70=x|p=x", "p=100%|p=100%25"})
    void aValueIsReadAsStoresReadIt(String query, String sent) {
        assertThat(RawUri.canonicalQuery(query)).isEqualTo("?" + sent);
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "&", "&&", "=", "=x"})
    void aParameterWithoutANameIsNone(String query) {
        assertThat(RawUri.canonicalQuery(query)).isEmpty();
        assertThat(RawUri.canonicalQuery(null)).isEmpty();
    }

    @ParameterizedTest
    @ValueSource(strings = {"p=%FF", "%C3=x", "p=%C3%28", "p=%ED%A0%80"})
    void whatIsNotUtf8IsRefused(String query) {
        assertThatIllegalArgumentException().isThrownBy(() -> RawUri.canonicalQuery(query))
                .withMessageContaining("UTF-8");
    }

    /** Some bytes plainly, where that is possible, and some escaped in either case. */
    private static String escaped(byte[] key, Random random) {
        StringBuilder path = new StringBuilder();
        for (byte b : key) {
            boolean plain = b > ' ' && b < 127 && b != '%' && random.nextBoolean();
            String form = random.nextBoolean() ? "%%%02x" : "%%%02X";
            path.append(plain ? String.valueOf((char) b) : String.format(form, b));
        }
        return path.toString();
    }

    private static byte[] bytes(String canonical) {
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        for (int i = 0; i < canonical.length(); i++) {
            if (canonical.charAt(i) == '%') {
                bytes.write(Integer.parseInt(canonical.substring(i + 1, i + 3), 16));
                i += 2;
            } else {
                bytes.write(canonical.charAt(i));
            }
        }
        return bytes.toByteArray();
    }
}
