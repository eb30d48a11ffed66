package io.railhead.cli.admin;

import com.fasterxml.jackson.databind.JsonNode;
import io.railhead.cli.Sizes;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** Shows the usage of tenants. */
@Command(name = "usage", description = "Show what each tenant used in each bucket since the gateway's start, what the store was spared, and with accounting.prices the money saved.")
final class UsageCommand implements Callable<Integer> {
    @Mixin
    private AdminOptions admin = new AdminOptions();

    @Option(names = "--by-tenant", description = "One line for each tenant.")
    private boolean byTenant;

    @Override
    public Integer call() throws IOException {
        admin.call("usage", AdminOptions.JSON.createObjectNode().put("by_tenant", byTenant),
                this::show);
        return 0;
    }

    private void show(JsonNode answer) {
        String currency = answer.path("currency").asText("");
        List<List<String>> table = new ArrayList<>();
        List<String> head = new ArrayList<>(byTenant
                ? List.of("TENANT")
                : List.of("TENANT", "BUCKET"));
        head.addAll(List.of("REQUESTS", "HITS", "MISSES", "SERVED", "STORE REQUESTS",
                "STORE BYTES", "AVOIDED REQUESTS", "AVOIDED BYTES", "MEAN MS"));
        if (!currency.isEmpty()) {
            head.add("COST " + currency);
            head.add("SAVED " + currency);
        }
        table.add(head);
        answer.path("usage")
                .forEach(row -> table.add(line(row, row.path("tenant").asText(),
                        row.path("bucket").asText())));
        table.add(line(answer.path("total"), "total", ""));
        print(table);
        admin.print("since " + answer.path("since").asText());
    }

    private List<String> line(JsonNode row, String tenant, String bucket) {
        List<String> line = new ArrayList<>(byTenant ? List.of(tenant) : List.of(tenant, bucket));
        line.add(sum(row, "reads", "writes"));
        line.add(sum(row, "hits"));
        line.add(sum(row, "misses"));
        line.add(Sizes.column(row.path("bytes").asLong()));
        line.add(sum(row, "store_reads", "store_writes"));
        line.add(Sizes.column(row.path("store_bytes").asLong()));
        line.add(sum(row, "avoided_requests"));
        line.add(Sizes.column(row.path("avoided_bytes").asLong()));
        line.add(String.format(Locale.ROOT, "%.2f", row.path("mean_seconds").asDouble() * 1000));
        if (row.has("saved")) {
            line.add(String.format(Locale.ROOT, "%.4f", row.path("store_cost").asDouble()));
            line.add(String.format(Locale.ROOT, "%.4f", row.path("saved").asDouble()));
        }
        return line;
    }

    private static String sum(JsonNode row, String... fields) {
        long sum = 0;
        for (String field : fields) {
            sum += row.path(field).asLong();
        }
        return Long.toString(sum);
    }

    /** Prints names to the left of their columns, and numbers to the right. */
    private void print(List<List<String>> table) {
        int names = byTenant ? 1 : 2;
        int[] widths = new int[table.getFirst().size()];
        for (List<String> line : table) {
            for (int i = 0; i < line.size(); i++) {
                widths[i] = Math.max(widths[i], line.get(i).length());
            }
        }
        for (List<String> line : table) {
            StringBuilder text = new StringBuilder();
            for (int i = 0; i < line.size(); i++) {
                String padding = " ".repeat(widths[i] - line.get(i).length());
                text.append(i == 0 ? "" : "  ")
                        .append(i < names ? line.get(i) + padding : padding + line.get(i));
            }
            admin.print(text.toString().stripTrailing());
        }
    }
}
