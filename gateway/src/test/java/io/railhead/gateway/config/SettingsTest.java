package io.railhead.gateway.config;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.entry;

import org.junit.jupiter.api.Test;

final class SettingsTest {
    @Test
    void whatWouldBeASecretIsMaskedAndAPathToOneIsNot() {
        Settings settings = new Settings((path, kind, otherwise) -> {});
        settings.said("a.password", "hidden");
        settings.said("backends.store.secret_key", "hidden");
        settings.said("backends.store.endpoints", "http://me:hidden@10.0.0.1, https://x:8080");
        settings.said("gateway.events.token_file", "/etc/railhead/token");
        settings.said("gateway.tls.key", "/etc/railhead/tls.key");
        settings.said("rdma.token_age", "60s");
        assertThat(settings.all()).containsExactly(entry("a.password", "****"),
                entry("backends.store.secret_key", "****"),
                entry("backends.store.endpoints", "http://****@10.0.0.1, https://x:8080"),
                entry("gateway.events.token_file", "/etc/railhead/token"),
                entry("gateway.tls.key", "/etc/railhead/tls.key"),
                entry("rdma.token_age", "60s"));
    }
}
