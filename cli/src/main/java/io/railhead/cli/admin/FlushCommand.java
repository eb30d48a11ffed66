package io.railhead.cli.admin;

import com.fasterxml.jackson.databind.JsonNode;
import io.railhead.cli.Sizes;
import java.io.IOException;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;

/** Waits for pending writes. */
@Command(name = "flush", description = "Wait until the stores have everything that was acknowledged at the gateway's disk before. It waits as long as a store refuses a write; exit 1 if one of them was discarded.")
final class FlushCommand implements Callable<Integer> {
    @Mixin
    private AdminOptions admin = new AdminOptions();

    private String shown = "";

    @Override
    public Integer call() throws IOException {
        JsonNode last = admin.call("flush", AdminOptions.JSON.createObjectNode()
                .put("progress", true), this::show);
        return switch (last.path("state").asText()) {
            case "done" -> 0;
            case "running" -> throw new IOException("the gateway broke off: what is pending stays"
                    + " in its log, and is written after its start");
            default -> throw new IOException(last.path("reason").asText());
        };
    }

    private void show(JsonNode line) {
        boolean isDone = line.path("state").asText().equals("done");
        String text = isDone ? "the stores have it all" : left(line);
        if (!text.equals(shown)) {
            shown = text;
            admin.print(text);
        }
    }

    /** Returns how much is pending. */
    static String left(JsonNode answer) {
        long stuck = answer.path("stuck").asLong();
        return answer.path("objects").asLong() + " objects pending, "
                + Sizes.column(answer.path("bytes").asLong())
                + (stuck == 0 ? "" : ", " + stuck + " buckets held up by a refused write");
    }
}
