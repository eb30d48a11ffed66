package io.railhead.rdma.verbs;

import static org.assertj.core.api.Assertions.assertThat;

import com.ibm.disni.verbs.RdmaCmId;
import io.railhead.os.adapter.Adapter;
import io.railhead.os.verbs.AsyncEvent;
import io.railhead.os.verbs.RequiresRdmaCore;
import io.railhead.rdma.Health;
import io.railhead.rdma.poller.PortBudgets;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.util.List;
import org.junit.jupiter.api.Test;

/** What a device says of itself. The fake device looks at no id. */
@SuppressWarnings("NullAway")
@RequiresRdmaCore
final class PortTest {
    private static Port port(Adapter adapter) throws IOException {
        return new Port(new InetSocketAddress(0), new RdmaCmId(null, null) {
        }, adapter, List.of(), new PortBudgets(1, 1, _ -> {}));
    }

    /** Its port may still be said to be up. */
    @Test
    void aDeviceThatReportsItsEndIsUsedNoMore() throws IOException {
        try (FakeDevice device = new FakeDevice();
                Adapter adapter = Adapter.open(device.verbs, "fake0")) {
            Port port = port(adapter);
            device.events.add(new AsyncEvent(AsyncEvent.Type.PORT_ERR, 1));
            port.look();
            assertThat(port.health()).isEqualTo(Health.USABLE);
            device.events.add(new AsyncEvent(AsyncEvent.Type.DEVICE_FATAL, 0));
            for (int i = 0; i < 2; i++) {
                port.look();
                assertThat(port.health()).isEqualTo(Health.down("fake0 was removed or has failed"));
            }
        }
    }
}
