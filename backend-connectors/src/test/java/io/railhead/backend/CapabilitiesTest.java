package io.railhead.backend;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class CapabilitiesTest {
    @Test
    void anOperatorReadsWords() {
        assertThat(Capabilities.ASSUMED).hasToString("knows ranges, If-Match on a ranged GET,"
                + " If-None-Match on HEAD, checksums; lacks trailers");
        assertThat(Capabilities.ASSUMED.withTrailers()).hasToString("knows ranges, If-Match on a"
                + " ranged GET, If-None-Match on HEAD, checksums, trailers");
        assertThat(new Capabilities(false, false, false, false, false)).hasToString("lacks ranges,"
                + " If-Match on a ranged GET, If-None-Match on HEAD, checksums, trailers");
    }
}
