package io.railhead.cli.site;

import static org.assertj.core.api.Assertions.assertThat;

import io.railhead.cli.reading.ReadingRow;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

class SavingTest {
    private static final long BYTES = 256L << 20;
    private static final ReadingRow DIRECT = row("direct", "http", 134.7, 1.0, 32L, BYTES);

    private static ReadingRow row(String path, String fabric, double mibPerS, double clientCpu,
            @Nullable Long requests, @Nullable Long storeBytes) {
        return new ReadingRow(path, fabric, "immutable", 1, BYTES, mibPerS, 1, 1, 0.1, clientCpu,
                requests,
                storeBytes);
    }

    private static String words(ReadingRow readingRow) {
        return Saving.words(List.of(DIRECT, readingRow), BYTES).getFirst();
    }

    @Test
    void aHitThatIsFasterSaysHowMuch() {
        assertThat(words(row("native-hit", "loopback", 2290, 0.04, 0L, 0L))).isEqualTo(
                "Read over the native channel (loopback), the same 256 MiB took 0.11 s instead of"
                        + " 1.9 s: 17 times as fast, with 4 % of the client's processor time;"
                        + " the store was not asked.");
    }

    @Test
    void aColdReadThatIsSlowerIsCalledSlower() {
        assertThat(words(row("cold", "http", 67.35, 1.3, 33L, BYTES))).isEqualTo(
                "Read for the first time through the gateway, the same 256 MiB took 3.8 s instead"
                        + " of 1.9 s: slower, it took 2 times as long, with 1.3 times the client's"
                        + " processor time; the store was asked for each byte once.");
    }

    @Test
    void whatCannotBeToldApartIsTheSame() {
        assertThat(words(row("http-hit", "http", 130, 0.97, 0L, 0L)))
                .contains(": as fast, with the same processor time of the client;");
    }

    @Test
    void justBeyondThatItIsNot() {
        assertThat(words(row("http-hit", "http", 125, 1.1, 0L, 0L)))
                .contains(": slower, it took 1.1 times as long, with 1.1 times the client's");
        assertThat(words(row("http-hit", "http", 150, 0.9, 0L, 0L)))
                .contains(": 1.1 times as fast, with 90 % of the client's");
    }

    @Test
    void aProcessorTimeBelowTheClocksStepIsNotADifference() {
        ReadingRow direct = row("direct", "http", 100, 0.1, 32L, BYTES);
        ReadingRow hit = row("rdma-hit", "loopback", 200, 0.001, 0L, 0L);
        assertThat(Saving.words(List.of(direct, hit), BYTES).getFirst())
                .endsWith(": 2 times as fast; the store was not asked.");
        assertThat(words(hit)).contains("with less than 1 % of the client's");
    }

    @Test
    void whatTheStoreWasAskedIsSaidAsItWas() {
        assertThat(words(row("http-hit", "http", 200, 1, 12L, 0L)))
                .endsWith("; in 1 pass the store was sent 12 requests and no byte was read from"
                        + " it.");
        assertThat(words(row("http-hit", "http", 200, 1, 1L, 3L << 19)))
                .endsWith("; in 1 pass the store was sent 1 request and gave 1.5 MiB.");
        assertThat(words(row("http-hit", "http", 200, 1, null, null)))
                .endsWith("processor time of the client.");
    }

    @Test
    void severalPassesOverWhatIsNotHeldAreNotCalledOnce() {
        ReadingRow direct = row("direct", "http", 100, 1, 32L, BYTES);
        ReadingRow uncached = row("http-hit", "http", 200, 1, 32L, BYTES);
        assertThat(Saving.words(List.of(direct, uncached), BYTES / 2).getFirst())
                .endsWith("; in 2 passes the store was sent 32 requests and gave 256 MiB.");
    }
}
