package io.railhead.cli.admin;

import com.fasterxml.jackson.databind.JsonNode;
import io.railhead.cli.Sizes;
import java.io.IOException;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;

/** Lists what was acknowledged at the gateway's disk and is not at the store. */
@Command(name = "pending", description = "List objects that were acknowledged at the gateway's disk and that the store does not have yet, and open uploads there: id, size, time, writer, name, problem. The oldest come first, at most 1000 of each.")
final class PendingCommand implements Callable<Integer> {
    @Mixin
    private AdminOptions admin = new AdminOptions();

    @Override
    public Integer call() throws IOException {
        admin.call("pending", AdminOptions.JSON.createObjectNode(), this::show);
        return 0;
    }

    private void show(JsonNode answer) {
        answer.path("pending")
                .forEach(write -> admin.print(line(write) + problem(write.path("problem"))));
        answer.path("uploads")
                .forEach(upload -> admin.print(line(upload) + "\topen upload of "
                        + upload.path("parts").asLong() + " parts"));
        admin.print(FlushCommand.left(answer) + ", " + answer.path("open_uploads").asLong()
                + " open uploads");
    }

    private static String line(JsonNode write) {
        return write.path("id").asText() + "\t" + Sizes.column(write.path("bytes").asLong())
                + "\t" + write.path("since").asText() + "\t"
                + shown(write.path("principal").asText()) + "\ts3://"
                + shown(write.path("bucket").asText() + "/" + write.path("key").asText());
    }

    /** Returns a name that cannot imitate another row, nor drive the terminal. */
    static String shown(String name) {
        return name.replaceAll("\\p{Cntrl}", "?");
    }

    private static String problem(JsonNode problem) {
        return problem.asText().isEmpty() ? "" : "\t" + shown(problem.asText());
    }
}
