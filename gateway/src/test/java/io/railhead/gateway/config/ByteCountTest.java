package io.railhead.gateway.config;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class ByteCountTest {

    @ParameterizedTest
    @CsvSource({"0,0", "1,1", "64KiB,65536", "512MiB,536870912", "4GiB,4294967296",
            "2TiB,2199023255552", "9223372036854775807,9223372036854775807", "3 MiB,3145728"})
    void sizesAreRead(String text, long bytes) {
        assertThat(ByteCount.parse(text).bytes()).isEqualTo(bytes);
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "GiB", "4GB", "4gib", "1.5GiB", "-1", "9223372036854775808",
            "8388608TiB", "0x10"})
    void whatIsNoSizeIsRefused(String text) {
        assertThatIllegalArgumentException().isThrownBy(() -> ByteCount.parse(text))
                .withMessageContaining("'" + text + "' is not a size");
    }

    @Test
    void sizesAreWrittenAsTheyAreRead() {
        assertThat(ByteCount.parse("4GiB")).hasToString("4GiB");
        assertThat(new ByteCount(1025)).hasToString("1025");
        assertThat(new ByteCount(0)).hasToString("0");
    }

    @Test
    void aShareOfALargeSizeDoesNotOverflow() {
        assertThat(new Percent(5).of(Long.MAX_VALUE)).isEqualTo(Long.MAX_VALUE / 100 * 5);
        assertThat(new Percent(50).of(7)).isEqualTo(3);
    }
}
