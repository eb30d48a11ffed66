package io.railhead.gateway.frontdoor;

import static org.assertj.core.api.Assertions.assertThat;

import io.railhead.gateway.config.ConfigLoader;
import io.railhead.gateway.identity.CredentialStore;
import java.nio.file.Files;
import java.nio.file.Path;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class CleartextPolicyTest {
    private static final String ON_THE_NETWORK = "listen: \"0.0.0.0:9000\"";

    @TempDir
    Path folder;

    private @Nullable String reason(String gateway, String rdma, String tenant) throws Exception {
        Files.writeString(folder.resolve("tls.pem"), "");
        Path credentials = Files.writeString(folder.resolve("credentials.yaml"), """
                principals:
                  - {name: a, tenant: one, keys: [{access_key: A, secret_key: S}]}
                  - {name: b, tenant: %s, keys: [{access_key: B, secret_key: S}]}
                """.formatted(tenant));
        Path config = Files.writeString(folder.resolve("railhead.yaml"), """
                gateway: {credentials: credentials.yaml, %s}
                backends: {a: {endpoints: ["http://s3"]}}
                rdma: {%s}
                """.formatted(gateway, rdma));
        try (CredentialStore store = CredentialStore.load(credentials)) {
            return CleartextPolicy.reasonAgainst(ConfigLoader.load(config),
                    store.areOfSeveralTenants());
        }
    }

    @Test
    void severalTenantsNeedTlsOnANetwork() throws Exception {
        assertThat(reason(ON_THE_NETWORK, "", "two")).startsWith("gateway.tls: is missing")
                .contains("gateway.allow_cleartext");
        assertThat(reason("listen: \"10.0.0.1:9000\"", "", "two")).isNotNull();
    }

    @Test
    void oneTenantOrNoRdmaDoesNot() throws Exception {
        assertThat(reason(ON_THE_NETWORK, "", "one")).isNull();
        assertThat(reason(ON_THE_NETWORK, "loopback: {enabled: false}", "two")).isNull();
    }

    @ParameterizedTest
    @ValueSource(strings = {"listen: \"127.0.0.1:9000\"", "listen: \"[::1]:9000\"",
            "allow_cleartext: true", "tls: {certificate: tls.pem, key: tls.pem}"})
    void norDoWhomNobodyHearsOrWhoSaidSo(String gateway) throws Exception {
        assertThat(reason(gateway, "", "two")).isNull();
    }
}
