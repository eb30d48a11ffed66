package io.railhead.gateway.trust;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.function.LongSupplier;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Another clock's time, less that in which some task of the machine waited for a processor: what is
 * late by it is late on an idle machine, too. The other clock's time where the kernel does not
 * tell. Any thread.
 */
public final class PressureClock implements LongSupplier {
    private static final Path OF_PROCESSORS = Path.of("/proc/pressure/cpu");
    private static final Pattern SOME = Pattern.compile("^some .*\\btotal=(\\d+)",
            Pattern.MULTILINE);

    private final LongSupplier nanoClock;
    private final Path pressure;

    public PressureClock(LongSupplier nanoClock) {
        this(nanoClock, OF_PROCESSORS);
    }

    PressureClock(LongSupplier nanoClock, Path pressure) {
        this.nanoClock = nanoClock;
        this.pressure = pressure;
    }

    @Override
    public long getAsLong() {
        return nanoClock.getAsLong() - waitedNanos();
    }

    private long waitedNanos() {
        if (!Files.isReadable(pressure)) {
            return 0;
        }
        try {
            Matcher some = SOME.matcher(Files.readString(pressure));
            return some.find() ? Long.parseLong(some.group(1)) * 1000 : 0;
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
