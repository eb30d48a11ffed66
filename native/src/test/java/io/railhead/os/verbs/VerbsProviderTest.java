package io.railhead.os.verbs;

import static java.lang.foreign.ValueLayout.JAVA_INT;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import com.ibm.disni.verbs.RdmaProvider;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;

final class VerbsProviderTest {

    @Test
    void aMissingLibraryIsUnavailable() {
        assertThatThrownBy(() -> NativeLibrary.open("libnosuch.so.1", "install it"))
                .isInstanceOf(VerbsUnavailableException.class)
                .hasMessage("not available: libnosuch.so.1 cannot be loaded; install it");
    }

    @Test
    void aMissingFunctionIsUnavailable() throws Exception {
        NativeLibrary library = NativeLibrary.open("libc.so.6", "");
        assertThatThrownBy(() -> library.function("ibv_none", JAVA_INT))
                .isInstanceOf(VerbsUnavailableException.class)
                .hasMessage("not available: libc.so.6 has no ibv_none");
    }

    @Test
    void aMachineWithoutDevicesSaysSo() throws Exception {
        assumeTrue(!Files.exists(Path.of("/sys/class/infiniband")), "this machine has devices");
        VerbsExtensions verbs;
        try {
            verbs = VerbsProvider.install();
        } catch (VerbsUnavailableException e) {
            assertThat(e).hasMessageStartingWith("not available: lib");
            return;
        }
        assertThatThrownBy(verbs::devices).isInstanceOf(VerbsUnavailableException.class)
                .hasMessageStartingWith("not available: no RDMA device");
    }

    @Test
    @RequiresRdmaCore
    void oneProviderServesTheWholeProcess() throws Exception {
        VerbsExtensions verbs = VerbsProvider.install();
        assertThat(VerbsProvider.install()).isSameAs(verbs);
        assertThat(RdmaProvider.provider()).isInstanceOf(VerbsProvider.class);
    }

    @Test
    void parametersBeyondTheirFieldsAreRefused() {
        ByteBuffer none = ByteBuffer.allocate(0);
        assertThatThrownBy(() -> new ConnectionParameters(ByteBuffer.allocate(256), 0, 0, 0, 0, 0))
                .hasMessage("privateData.remaining must be 0 to 255: 256");
        assertThatThrownBy(() -> new ConnectionParameters(none, 256, 0, 0, 0, 0))
                .hasMessage("responderResources must be 0 to 255: 256");
        assertThatThrownBy(() -> new ConnectionParameters(none, 0, 0, 8, 0, 0))
                .hasMessage("retryCount must be 0 to 7: 8");
    }
}
