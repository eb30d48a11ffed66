package io.railhead.gateway.log;

import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.recovery.RecoveryListener;
import ch.qos.logback.core.recovery.ResilientOutputStreamBase;
import ch.qos.logback.core.rolling.RollingFileAppender;
import io.prometheus.client.Counter;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A log file that counts lines which could not be written. Logback drops such lines silently, and
 * retries now and then. The log's thread only.
 */
final class CountedFile extends RollingFileAppender<ILoggingEvent> {
    private static final Logger LOG = LoggerFactory.getLogger(CountedFile.class);

    private final Counter lost;
    private boolean failing;
    /** True after the file was reopened, until the next line. */
    private boolean reopened;
    private boolean failedNow;

    CountedFile(Counter lost) {
        this.lost = lost;
    }

    @Override
    public void setOutputStream(OutputStream stream) {
        if (stream instanceof ResilientOutputStreamBase resilient) {
            resilient.addRecoveryListener(new Heard());
        }
        super.setOutputStream(stream);
    }

    /** Renames regular files only, not a device or a pipe. */
    @Override
    public void rollover() {
        Path path = Path.of(getFile());
        if (Files.isRegularFile(path) || Files.notExists(path)) {
            super.rollover();
        }
    }

    @Override
    protected void subAppend(ILoggingEvent line) {
        // The line that makes Logback reopen the file is lost too.
        boolean skipped = failing && !reopened;
        failedNow = false;
        super.subAppend(line);
        if (skipped || failedNow) {
            lost.inc();
        } else if (failing) {
            failing = false;
            reopened = false;
            LOG.info("log.access.file: lines are written again");
        }
    }

    /** Learns of each failed write, and of each reopening, which a full disk permits too. */
    private final class Heard implements RecoveryListener {

        @Override
        public void newFailure(IOException cause) {
            failedNow = true;
            reopened = false;
            if (!failing) {
                failing = true;
                LOG.warn("log.access.file: lines are lost: {}", cause.getMessage());
            }
        }

        @Override
        public void recoveryOccured() {
            reopened = true;
        }
    }
}
