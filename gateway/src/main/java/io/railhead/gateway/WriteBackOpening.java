package io.railhead.gateway;

import static java.util.Objects.requireNonNull;

import io.railhead.cache.Writes;
import io.railhead.cache.disk.DiskRefusedException;
import io.railhead.cache.writeback.WriteLog;
import io.railhead.gateway.config.GatewayConfig;
import io.railhead.gateway.config.Rule;
import io.railhead.gateway.identity.CredentialStore;
import io.railhead.gateway.object.writeback.WriteBack;
import java.io.UncheckedIOException;
import java.time.InstantSource;
import java.util.function.Function;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Opens the log of acknowledged writes, and takes up what it holds. Blocks. */
final class WriteBackOpening {
    private static final Logger LOG = LoggerFactory.getLogger(WriteBackOpening.class);

    private WriteBackOpening() {}

    /**
     * Returns null if no log is configured; throws {@link IllegalArgumentException} with one line
     * if it cannot be used.
     */
    static @Nullable WriteBack open(GatewayConfig config, Writes writes,
            CredentialStore credentials, LongSupplier nanoClock) {
        GatewayConfig.WriteBack settings = config.writeBack();
        if (settings == null) {
            return null;
        }
        requireCredential(config, credentials);
        WriteBack opened = open(log(settings), log -> new WriteBack(log, writes,
                new WriteBack.Bounds(settings.patience(), settings.rate().bytes(),
                        settings.tenantQuota().value()),
                InstantSource.system(), nanoClock,
                credentials::findPrincipal));
        for (String store : opened.stores()) {
            if (!config.backends().containsKey(store)) {
                opened.close();
                throw new IllegalArgumentException("write_back.path: writes for the store " + store
                        + " are not written yet, and backends does not name it");
            }
        }
        WriteBack.Stats found = opened.stats();
        LOG.info("write-back log {}: {} writes to be written, {} open multipart uploads",
                settings.path(), found.pending(), found.uploads().open());
        return opened;
    }

    private static WriteBack open(WriteLog ownedLog, Function<WriteLog, WriteBack> opening) {
        try {
            return opening.apply(ownedLog);
        } catch (UncheckedIOException e) {
            ownedLog.close();
            throw new IllegalArgumentException("write_back.path: "
                    + requireNonNull(e.getCause()).getMessage(), e);
        }
    }

    private static WriteLog log(GatewayConfig.WriteBack settings) {
        try {
            return WriteLog.open(settings.path(), settings.size().bytes());
        } catch (DiskRefusedException e) {
            throw new IllegalArgumentException("write_back.path: " + e.getMessage(), e);
        }
    }

    /** A client's own key may end before its writes are written. */
    private static void requireCredential(GatewayConfig config, CredentialStore credentials) {
        boolean atDisk = config.rules().all().stream().anyMatch(Rule::acknowledgesAtDisk);
        if (atDisk && credentials.principals()
                .stream()
                .allMatch(principal -> principal.backend() == null)) {
            throw new IllegalArgumentException("acknowledge: disk needs a principal with a backend"
                    + " credential in gateway.credentials, by which its writes are written later");
        }
    }
}
