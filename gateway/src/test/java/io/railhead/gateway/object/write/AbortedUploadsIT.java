package io.railhead.gateway.object.write;

import io.railhead.backend.testing.BufferLeaks;
import io.railhead.gateway.TestGateway;
import io.railhead.gateway.frontdoor.RawConnection;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.URI;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.Test;

/** Clients that leave while their store takes nothing: what had come of their bodies is let go. */
class AbortedUploadsIT {
    private static final int UPLOADS = 8;
    /** The sockets, and what the gateway takes before it has its client wait. */
    private static final long UNTIL_FULL_NANOS = TimeUnit.MILLISECONDS.toNanos(500);

    @Test
    void nothingStaysOfABodyThatNobodyTakes() throws Exception {
        byte[] body = new byte[32 << 20];
        // Nobody accepts: the kernel takes what fits into its buffers.
        try (ServerSocket store = new ServerSocket(0, 2 * UPLOADS,
                InetAddress.getLoopbackAddress());
                TestGateway gateway = TestGateway
                        .over(URI.create("http://127.0.0.1:" + store.getLocalPort()))
                        .start()) {
            String head = RawConnection.head(gateway.client()
                    .signed("PUT", "/b/key", body), "Content-Length: " + body.length);
            for (int i = 0; i < UPLOADS; i++) {
                RawConnection upload = new RawConnection(gateway.endpoint()).send(head + "\r\n");
                Thread sending = Thread.startVirtualThread(() -> upload.sendWhilePossible(body));
                LockSupport.parkNanos(UNTIL_FULL_NANOS);
                upload.reset();
                sending.join();
            }
            TestGateway.await(() -> gateway
                    .metric("railhead_admission_in_use{what=\"connections\",}") == 0);
        }
        BufferLeaks.assertNone();
    }
}
