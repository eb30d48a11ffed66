package io.railhead.cli.admin;

import com.fasterxml.jackson.databind.JsonNode;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;

/** Shows the members of a cluster. */
@Command(name = "members", description = "Show the gateways that are one cache with this one, how long ago each answered, and where their configurations differ.")
final class MembersCommand implements Callable<Integer> {
    @Mixin
    private AdminOptions admin = new AdminOptions();

    @Override
    public Integer call() throws IOException {
        admin.call("members", AdminOptions.JSON.createObjectNode(), this::show);
        return 0;
    }

    private void show(JsonNode answer) {
        answer.path("members").forEach(member -> admin.print(line(member)));
        admin.print(answer.path("lease").asBoolean()
                ? "all answer: objects are served as their rules say"
                : "not all answer: every read asks its store");
        admin.print("changes: " + answer.path("told").asLong() + " told, "
                + answer.path("unheard").asLong() + " of them not acknowledged by all, "
                + answer.path("applied").asLong() + " applied of others");
    }

    private static String line(JsonNode member) {
        String name = member.path("name").asText();
        if (member.path("self").asBoolean()) {
            return name + "  this gateway";
        }
        List<String> differing = new ArrayList<>();
        member.path("differs_in").forEach(key -> differing.add(key.asText()));
        return name
                + (member.hasNonNull("silence_ms")
                        ? "  answered " + member.path("silence_ms").asLong() + " ms ago"
                        : "  has not answered yet")
                + (member.path("fills").asText().isEmpty()
                        ? ""
                        : ", shares objects at " + member.path("fills").asText())
                + (differing.isEmpty()
                        ? ""
                        : ", configured otherwise: " + String.join(", ", differing));
    }
}
