package io.railhead.cli.admin;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.railhead.gateway.config.ByteCount;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Locale;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** Brings objects into the cache before they are read. */
@Command(name = "warm", description = "Bring objects into the cache, read at the store in the caller's own name. It ends with this command, and where the cache is full.")
final class WarmCommand implements Callable<Integer> {
    @Spec
    private CommandSpec spec = CommandSpec.create();

    @Mixin
    private AdminOptions admin = new AdminOptions();

    @Parameters(index = "0", paramLabel = "s3://bucket[/prefix]", description = "What to warm: every object whose key begins so.")
    private String uri = "";

    @Option(names = "--from", paramLabel = "KEY", description = "Go on behind this key, as an earlier warming said.")
    private @Nullable String from;

    @Option(names = "--keys", paramLabel = "FILE", description = "Instead of a prefix: the keys in this file, one on each line; - is the standard input.")
    private @Nullable String keys;

    @Option(names = "--rate", paramLabel = "SIZE", description = "At most so much each second, such as 200MiB.")
    private @Nullable String rate;

    @Option(names = "--concurrency", paramLabel = "N", description = "Objects at a time, up to 64 (${DEFAULT-VALUE}).", defaultValue = "4")
    private int concurrency = 4;

    @Option(names = "--tier", paramLabel = "memory|disk", description = "Tier to fill. What goes to disk leaves memory again (memory).")
    private Tier tier = Tier.MEMORY;

    enum Tier {
        MEMORY,
        DISK
    }

    private String lastKey = "";

    @Override
    public Integer call() throws IOException {
        ObjectNode body = body();
        JsonNode last;
        try {
            last = admin.call("warm", body, this::show);
        } catch (IOException e) {
            throw new IOException(e.getMessage() + behind(), e);
        }
        String state = last.path("state").asText();
        if (state.equals("done")) {
            return 0;
        }
        throw new IOException(switch (state) {
            case "full" -> full(last, tier);
            case "running" -> "the gateway broke off";
            default -> last.path("reason").asText(state);
        } + behind());
    }

    private static String full(JsonNode last, Tier tier) {
        if (tier == Tier.DISK) {
            return "the disk tier takes no more: " + AdminOptions.mebibytes(last.path("room_bytes"))
                    + " are left of " + AdminOptions.mebibytes(last.path("cache_bytes")) + ", and "
                    + last.path("reason").asText() + "; warm less, or raise cache.disk.size or"
                    + " cache.disk.writes_per_day";
        }
        return "the cache is full: " + AdminOptions.mebibytes(last.path("room_bytes"))
                + " are free of " + AdminOptions.mebibytes(last.path("cache_bytes")) + ", and "
                + last.path("reason").asText() + "; raise cache.memory, warm less, or evict what"
                + " is not needed (railhead admin evict)";
    }

    private String behind() {
        return lastKey.isEmpty() || keys != null ? "" : "; go on with --from '" + lastKey + "'";
    }

    private ObjectNode body() throws IOException {
        String[] parts = ObjectsArgument.split(spec, uri);
        ObjectNode body = AdminOptions.JSON.createObjectNode()
                .put("bucket", parts[0])
                .put("concurrency", concurrency);
        String file = keys;
        if (file == null) {
            body.put("prefix", parts[1]);
        } else if (!parts[1].isEmpty() || from != null) {
            throw new ParameterException(spec.commandLine(),
                    "--keys stands instead of a prefix and --from");
        } else {
            ArrayNode list = body.putArray("keys");
            lines(file).lines().filter(line -> !line.isEmpty()).forEach(list::add);
        }
        if (from != null) {
            body.put("from", from);
        }
        if (tier == Tier.DISK) {
            body.put("tier", "disk");
        }
        if (rate != null) {
            body.put("bytes_per_second", bytes(rate));
        }
        return body;
    }

    private static String lines(String file) throws IOException {
        return file.equals("-")
                ? new String(System.in.readAllBytes(), StandardCharsets.UTF_8)
                : Files.readString(Path.of(file));
    }

    private long bytes(String size) {
        try {
            return ByteCount.parse(size).bytes();
        } catch (IllegalArgumentException e) {
            throw new ParameterException(spec.commandLine(), "--rate: " + e.getMessage(), e);
        }
    }

    private void show(JsonNode line) {
        lastKey = line.path("last_key").asText();
        StringBuilder text = new StringBuilder(String.format(Locale.ROOT, "%d objects, %s, %s/s",
                line.path("objects").asLong(), AdminOptions.mebibytes(line.path("bytes")),
                AdminOptions.mebibytes(line.path("bytes_per_second"))));
        for (String other : new String[]{"held", "not_cached", "refused", "failed"}) {
            if (line.path(other).asLong() > 0) {
                text.append(", ")
                        .append(line.path(other).asLong())
                        .append(' ')
                        .append(other.equals("held") ? "held already" : other.replace('_', ' '));
            }
        }
        admin.print(text + (lastKey.isEmpty() ? "" : ", at " + lastKey));
    }
}
