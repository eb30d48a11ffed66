package io.railhead.gateway.http;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Instant;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.Test;

final class HttpDateTest {
    private final AtomicReference<Instant> now = new AtomicReference<>(Instant.EPOCH);
    private final HttpDate date = new HttpDate(now::get);

    @Test
    void itIsTheSecondThatItIs() {
        assertThat(date.now()).hasToString("Thu, 01 Jan 1970 00:00:00 GMT");
        now.set(Instant.parse("2026-11-22T08:09:10.999Z"));
        assertThat(date.now()).hasToString("Sun, 22 Nov 2026 08:09:10 GMT");
        assertThat(date.now()).isSameAs(date.now());
        now.set(Instant.parse("2026-11-22T08:09:11Z"));
        assertThat(date.now()).hasToString("Sun, 22 Nov 2026 08:09:11 GMT");
        // A clock that is set back is followed.
        now.set(Instant.parse("1969-12-31T23:59:59.5Z"));
        assertThat(date.now()).hasToString("Wed, 31 Dec 1969 23:59:59 GMT");
    }
}
