package io.railhead.cli;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

final class SizesTest {
    @Test
    void aSizeHasADecimalOnlyWhereItIsNoWholeUnit() {
        assertThat(Sizes.of(0)).isEqualTo("0 B");
        assertThat(Sizes.of(64 << 20)).isEqualTo("64 MiB");
        assertThat(Sizes.of(3L << 29)).isEqualTo("1.5 GiB");
        assertThat(Sizes.of(5L << 50)).isEqualTo("5 PiB");
        assertThat(Sizes.of(Long.MAX_VALUE)).isEqualTo("unlimited");
    }

    @Test
    void anExactSizeNamesItsBytesWhereItIsRounded() {
        assertThat(Sizes.exact(64 << 20)).isEqualTo("64 MiB");
        assertThat(Sizes.exact((64 << 20) + 1)).isEqualTo("64.0 MiB (67108865 B)");
    }

    @Test
    void aColumnHasOneFormAndKeepsASign() {
        assertThat(Sizes.column(1023)).isEqualTo("1023 B");
        assertThat(Sizes.column(40 << 20)).isEqualTo("40.0 MiB");
        assertThat(Sizes.column(-(3L << 29))).isEqualTo("-1.5 GiB");
    }
}
