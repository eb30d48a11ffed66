package io.railhead.os.verbs;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.abort;

import com.ibm.disni.verbs.IbvContext;
import io.railhead.os.PollSet;
import io.railhead.os.devices.RdmaDevice;
import io.railhead.os.devices.RdmaDevices;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

/** A port that goes down and up again tells so. Whoever made the link puts its routes back. */
@RequiresVerbs
final class VerbsAsyncEventTest {
    private static final int TIMEOUT_MILLIS = 30_000;

    @Test
    void aLinkThatGoesDownAndUpIsReported() throws Exception {
        VerbsExtensions verbs = VerbsProvider.install();
        RdmaDevice device = RdmaDevices.read().getFirst();
        String network = device.ports()
                .getFirst()
                .gids()
                .getFirst()
                .network()
                .orElseThrow()
                .name();
        IbvContext context = verbs.open(device.name());
        try (PollSet set = new PollSet(verbs.asyncDescriptor(context))) {
            forgetWhatWas(verbs, context);
            assertThat(set.await(0)).isZero();
            ip("link", "set", network, "down");
            await(verbs, context, set, AsyncEvent.Type.PORT_ERR);
            assertThat(RdmaDevices.read().getFirst().ports().getFirst().isActive()).isFalse();
            assertThat(verbs.port(context, 1).isActive()).isFalse();
            ip("link", "set", network, "up");
            await(verbs, context, set, AsyncEvent.Type.PORT_ACTIVE);
            assertThat(verbs.port(context, 1).isActive()).isTrue();
        } finally {
            ip("link", "set", network, "up");
            verbs.close(context);
        }
    }

    /** rdma_cm keeps a device's context, and with it events that nobody read. */
    private static void forgetWhatWas(VerbsExtensions verbs, IbvContext context)
            throws IOException {
        AsyncEvent event;
        do {
            event = verbs.nextAsyncEvent(context);
        } while (event != null);
    }

    /** Reads events until one of the type, of port 1. */
    private static void await(VerbsExtensions verbs, IbvContext context, PollSet set,
            AsyncEvent.Type type) throws IOException {
        List<AsyncEvent> seen = new ArrayList<>();
        while (set.await(TIMEOUT_MILLIS) > 0) {
            AsyncEvent event = verbs.nextAsyncEvent(context);
            if (new AsyncEvent(type, 1).equals(event)) {
                return;
            }
            seen.add(event);
        }
        throw new AssertionError("no " + type + " but " + seen);
    }

    private static void ip(String... arguments) throws IOException {
        List<String> command = new ArrayList<>(List.of("ip"));
        command.addAll(List.of(arguments));
        Process process;
        try {
            process = new ProcessBuilder(command).redirectErrorStream(true).start();
        } catch (IOException e) {
            abort("no program ip");
            return;
        }
        String output = new String(process.getInputStream().readAllBytes());
        assertThat(process.onExit().join().exitValue()).as(command + ": " + output).isZero();
    }
}
