package io.railhead.gateway.object.read;

import static org.assertj.core.api.Assertions.assertThat;

import io.railhead.gateway.request.ByteRange;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class DiscoveryRangeTest {
    private static final long PAGE = 100;
    private static final long RUN = 400;

    @ParameterizedTest
    @CsvSource({"bytes=0-0,0,100", "bytes=0-,0,400", "bytes=150-250,100,200",
            "bytes=399-400,300,100", "bytes=450-9999,400,400"})
    void itIsWholePagesAroundWhatIsWantedAndNotPastTheirRun(String wanted, long offset,
            long length) {
        assertThat(DiscoveryRange.around(ByteRange.parse(wanted), PAGE, RUN))
                .isEqualTo(new DiscoveryRange(offset, length));
    }

    @ParameterizedTest
    @CsvSource({"bytes=999999999999999999-", "bytes=9223372036854775806-",
            "bytes=9223372036854775807-9223372036854775807",
            "bytes=99999999999999999999-99999999999999999999"})
    void whatLiesBehindAnyObjectIsAskedForInOrder(String wanted) {
        DiscoveryRange asked = DiscoveryRange.around(ByteRange.parse(wanted), PAGE, RUN);
        assertThat(asked.offset()).isPositive();
        assertThat(asked.length()).isBetween(1L, RUN);
        assertThat(asked.offset() + asked.length()).isGreaterThan(asked.offset());
    }
}
