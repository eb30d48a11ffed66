package io.railhead.gateway;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.railhead.gateway.config.ConfigLoader;
import io.railhead.gateway.config.GatewayConfig.Loopback;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class NamedFabricTest {
    @TempDir
    private Path folder;

    private Loopback loopback(boolean named) {
        return new Loopback(true, folder.resolve("missing/loopback.sock"), false, named);
    }

    @Test
    void aFabricThatNobodyNamedIsOffWithItsReason() {
        assertThatCode(() -> FabricOpening.requireNamed(loopback(false)))
                .doesNotThrowAnyException();
        assertThat(FabricOpening.reasonAgainst(loopback(false)))
                .contains("missing is not a folder that can be written to");
    }

    @Test
    void oneThatWasNamedStopsTheStart() {
        assertThatThrownBy(() -> FabricOpening.requireNamed(loopback(true)))
                .hasMessageContaining("missing is not a folder that can be written to");
    }

    @Test
    void anyLineUnderItNamesIt() throws Exception {
        assertThat(load("").named()).isFalse();
        assertThat(load("rdma: {verbs: {enabled: false}}").named()).isFalse();
        assertThat(load("rdma: {loopback: {enabled: true}}").named()).isTrue();
        assertThat(load("rdma: {loopback: {socket: l.sock}}").named()).isTrue();
    }

    private Loopback load(String rdma) throws Exception {
        Files.writeString(folder.resolve("credentials.yaml"), "");
        return ConfigLoader.load(Files.writeString(folder.resolve("railhead.yaml"), """
                gateway: {credentials: credentials.yaml}
                backends: {a: {endpoints: ["http://s3:80"]}}
                """ + rdma)).rdma().loopback();
    }
}
