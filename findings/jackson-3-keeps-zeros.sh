#!/usr/bin/env bash
# com.fasterxml.jackson.core:jackson-databind 2.23.0 and tools.jackson.core:jackson-databind 3.3.0 (Maven): a decimal
# that is read as a tree, with USE_BIG_DECIMAL_FOR_FLOATS.
#
# One would guess: the switch keeps each digit, and a tree writes what it has read, in both.
# What happens: Jackson 2 takes the zeros at the end off a decimal, and so 100.0 is written as 1E+2 and 25.000000 as 25.
# The same text read as Object is written as it was. Jackson 3 keeps the zeros in the tree as well. With them equality
# changes: 100.0 and 100.00 are equal nodes in 2 and different ones in 3.
# Who is hit: with 2, a proxy or a signed body that goes through a tree: round amounts alone get an exponent, which
# strict readers of decimals refuse. With 3, whoever finds repeated messages by the equality of trees, or keys a map by
# them.
# Instead: amounts as text; decimalValue().toPlainString() to write, compareTo to compare.
set -euo pipefail
for tool in java mvn; do
  command -v "$tool" >/dev/null || { echo "$tool is missing" >&2; exit 77; }
done
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
cat > pom.xml <<'XML'
<project xmlns="http://maven.apache.org/POM/4.0.0">
  <modelVersion>4.0.0</modelVersion>
  <groupId>example</groupId>
  <artifactId>example</artifactId>
  <version>1</version>
  <dependencies>
    <dependency>
      <groupId>com.fasterxml.jackson.core</groupId><artifactId>jackson-databind</artifactId><version>2.23.0</version>
    </dependency>
    <dependency>
      <groupId>tools.jackson.core</groupId><artifactId>jackson-databind</artifactId><version>3.3.0</version>
    </dependency>
  </dependencies>
</project>
XML
mvn --quiet --batch-mode dependency:copy-dependencies -DoutputDirectory=lib >log.txt 2>&1 ||
  { cat log.txt >&2; exit 1; }

cat > Run.java <<'JAVA'
public class Run {
  public static void main(String[] args) throws Exception {
    var two = new com.fasterxml.jackson.databind.ObjectMapper()
        .enable(com.fasterxml.jackson.databind.DeserializationFeature.USE_BIG_DECIMAL_FOR_FLOATS);
    var three = tools.jackson.databind.json.JsonMapper.builder()
        .enable(tools.jackson.databind.DeserializationFeature.USE_BIG_DECIMAL_FOR_FLOATS).build();
    for (String text : new String[] {"100.0", "25.000000", "0.50"}) {
      System.out.println(text + " is, by a tree: " + two.readTree(text) + " in 2, " + three.readTree(text) + " in 3"
          + "; by Object: " + two.writeValueAsString(two.readValue(text, Object.class)) + " in 2, "
          + three.writeValueAsString(three.readValue(text, Object.class)) + " in 3");
    }
    System.out.println("100.0 equals 100.00: " + two.readTree("100.0").equals(two.readTree("100.00")) + " in 2, "
        + three.readTree("100.0").equals(three.readTree("100.00")) + " in 3");
  }
}
JAVA

seen=$(java -cp 'lib/*' Run.java)
expected='100.0 is, by a tree: 1E+2 in 2, 100.0 in 3; by Object: 100.0 in 2, 100.0 in 3
25.000000 is, by a tree: 25 in 2, 25.000000 in 3; by Object: 25.000000 in 2, 25.000000 in 3
0.50 is, by a tree: 0.5 in 2, 0.50 in 3; by Object: 0.50 in 2, 0.50 in 3
100.0 equals 100.00: true in 2, false in 3'
if [ "$seen" != "$expected" ]; then
  printf 'This has changed. Expected:\n%s\nSeen:\n%s\n' "$expected" "$seen" >&2
  exit 1
fi
echo "$seen"
