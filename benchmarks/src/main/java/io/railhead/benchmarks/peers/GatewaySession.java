package io.railhead.benchmarks.peers;

import static java.nio.charset.StandardCharsets.ISO_8859_1;

import com.fasterxml.jackson.databind.JsonNode;
import io.railhead.client.channel.ClientChannel;
import io.railhead.client.loopback.LoopbackClient;
import io.railhead.protocol.channel.Request;
import io.railhead.protocol.message.SessionKey;
import io.railhead.protocol.token.Token;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Map;

/** A loopback session whose registered memory is the windows. */
final class GatewaySession implements AutoCloseable {
    private static final Duration PATIENCE = Duration.ofSeconds(30);

    private final Order order;
    private final ClientWindows windows;
    private final LoopbackClient client;
    private final int key;

    private GatewaySession(Order order, ClientWindows windows, LoopbackClient ownedClient)
            throws IOException {
        this.order = order;
        this.windows = windows;
        client = ownedClient;
        key = client.register(windows.file(), windows.mapping().segment().address());
    }

    static GatewaySession open(Order order, ClientWindows windows) throws IOException {
        SigV4 signer = order.signer();
        SigV4.Signed open = signer.sign("POST", "/.railhead/sessions", "fabric=loopback",
                Map.of("content-length", "0"));
        JsonNode grant = grant(order, open);
        String session = grant.required("session").textValue();
        LoopbackClient client = LoopbackClient.connect(
                Path.of(grant.required("socket").textValue()), session,
                SessionKey.derive(signer.signingKey().reveal(), open.signature(), session),
                PATIENCE);
        try {
            return new GatewaySession(order, windows, client);
        } catch (IOException | RuntimeException | Error e) {
            client.close();
            throw e;
        }
    }

    private static JsonNode grant(Order order, SigV4.Signed open) throws IOException {
        try (GatewayConnection connection = new GatewayConnection(order.host())) {
            connection.send(open.bytes());
            String head = connection.receiveHead();
            if (!head.startsWith("HTTP/1.1 200 ")) {
                throw new IOException("no session was opened: " + head);
            }
            byte[] body = connection.receiveBody(GatewayConnection.contentLength(head));
            return OneSidedClient.JSON.readTree(new String(body, ISO_8859_1));
        }
    }

    ClientChannel channel() {
        return client.channel();
    }

    /** Returns the 81 characters that name a request's window. */
    String token(int request) {
        return Token.loopback(windows.mapping().segment().address() + windows.offset(request),
                windows.windowBytes(), key, client.sessionNumber()).format();
    }

    /** Returns a GET into a request's window, over the channel. */
    Request get(int request) {
        return Request.get(request + 1, order.bucket(), order.key(), key, windows.offset(request),
                order.bytes());
    }

    /** Closes the session; returns when the gateway has released the memory. */
    @Override
    public void close() {
        client.close();
    }
}
