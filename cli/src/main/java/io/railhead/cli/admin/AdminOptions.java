package io.railhead.cli.admin;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.railhead.client.AdminClient;
import io.railhead.client.AwsSettings;
import io.railhead.client.ClientCertificate;
import io.railhead.client.ClientConfig;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.UncheckedIOException;
import java.nio.file.Path;
import java.util.Locale;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/** The options of admin calls: the gateway, the caller, and the output format. */
final class AdminOptions {
    static final ObjectMapper JSON = new ObjectMapper();

    @Spec(Spec.Target.MIXEE)
    private CommandSpec spec = CommandSpec.create();

    @Option(names = "--endpoint", paramLabel = "URL", description = "The gateway's admin port (${DEFAULT-VALUE}).", defaultValue = "http://127.0.0.1:9902")
    private String endpoint = "http://127.0.0.1:9902";

    @Option(names = "--profile", paramLabel = "NAME", description = "Profile of the shared AWS files (AWS_PROFILE); credentials come from AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY first.")
    private @Nullable String profile;

    @Option(names = "--region", paramLabel = "REGION", description = "Region that calls are signed for (AWS_REGION; us-east-1).")
    private @Nullable String region;

    @Option(names = "--ca", paramLabel = "FILE", description = "PEM file of the authorities that the port's certificate is of (AWS_CA_BUNDLE).")
    private @Nullable Path ca;

    @Option(names = "--cert", paramLabel = "FILE", description = "PEM file of the client's certificate, where the port asks for one (admin.tls.client_ca).")
    private @Nullable Path certificate;

    @Option(names = "--key", paramLabel = "FILE", description = "PEM file of its key, in PKCS#8.")
    private @Nullable Path key;

    @Option(names = "--json", description = "Print the gateway's answer as it comes, a JSON object on each line.")
    private boolean json;

    /**
     * Makes a call and shows the response.
     *
     * @param text shows one line to a person
     * @return the last line
     */
    JsonNode call(String name, ObjectNode body, Consumer<JsonNode> text) throws IOException {
        PrintWriter out = spec.commandLine().getOut();
        JsonNode[] last = new JsonNode[1];
        try (AdminClient client = connect()) {
            client.call(name, body.toString(), line -> {
                last[0] = parse(line);
                if (json) {
                    out.println(line);
                } else {
                    text.accept(last[0]);
                }
                out.flush();
            });
        } catch (UncheckedIOException e) {
            throw new IOException(e.getMessage(), e);
        }
        if (last[0] == null) {
            throw new IOException("the gateway's answer is empty");
        }
        return last[0];
    }

    /** Returns a client of the gateway that the options name. */
    AdminClient connect() {
        if ((certificate == null) != (key == null)) {
            throw new ParameterException(spec.commandLine(), "--cert and --key go together.");
        }
        ClientConfig config = new AwsSettings(System.getenv()).resolve(endpoint, profile, region);
        return AdminClient.connect(ca == null ? config : config.trusting(ca),
                certificate == null || key == null
                        ? null
                        : new ClientCertificate(certificate, key));
    }

    private static JsonNode parse(String line) {
        try {
            return JSON.readTree(line);
        } catch (JsonProcessingException e) {
            throw new UncheckedIOException("the gateway's answer is not JSON", e);
        }
    }

    void print(String line) {
        spec.commandLine().getOut().println(line);
    }

    static String mebibytes(JsonNode bytes) {
        return String.format(Locale.ROOT, "%.1f MiB", bytes.asDouble() / (1 << 20));
    }
}
