package io.railhead.client;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.util.Map;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import software.amazon.awssdk.http.SdkHttpMethod;

/** Calls of a gateway's admin API. Blocking, any thread; its owner closes it. */
public final class AdminClient implements AutoCloseable {
    private static final String PATH = "/.railhead/admin/";

    private final S3Http http;

    private AdminClient(S3Http http) {
        this.http = http;
    }

    /**
     * Returns a client; no byte is sent before the first call.
     *
     * @param config names a gateway's admin port as its endpoint
     */
    public static AdminClient connect(ClientConfig config) {
        return new AdminClient(new S3Http(config));
    }

    /** @param own the certificate that the port may ask for; null for none */
    public static AdminClient connect(ClientConfig config, @Nullable ClientCertificate own) {
        return new AdminClient(new S3Http(config, own));
    }

    /**
     * Makes one call, without retries, since a call without a response may have been performed.
     *
     * @param json the call's argument, an object
     * @param lines receives each line of the response, a JSON object, as it comes
     * @throws S3Exception if the gateway refuses the call
     */
    public void call(String name, String json, Consumer<String> lines) throws IOException {
        read(name, json, body -> {
            BufferedReader reader = new BufferedReader(
                    new InputStreamReader(body, StandardCharsets.UTF_8));
            for (String line = reader.readLine(); line != null; line = reader.readLine()) {
                lines.accept(line);
            }
        });
    }

    /** Reads the response to a call. */
    @FunctionalInterface
    public interface Receiver {

        /** @param body is closed afterwards */
        void receive(InputStream body) throws IOException;
    }

    /**
     * Makes one call whose response is bytes, without retries.
     *
     * @param json the call's argument, an object
     * @throws S3Exception if the gateway refuses the call
     */
    public void read(String name, String json, Receiver receiver) throws IOException {
        Call call = new Call(SdkHttpMethod.POST, PATH + name, Map.of(),
                Map.of("Content-Type", "application/json"),
                Call.Body.of(json.getBytes(StandardCharsets.UTF_8)));
        try (HttpAnswer answer = http.require(call); InputStream body = answer.body()) {
            receiver.receive(body);
        }
    }

    @Override
    public void close() {
        http.close();
    }
}
