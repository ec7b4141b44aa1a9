#!/usr/bin/env bash
# org.xerial:sqlite-jdbc 3.54.1.0: an amount above 2^31 read as an int.
#
# One would guess: as PostgreSQL's driver does, it raises an error where a value does not fit.
# What happens: getInt and getObject(column, Integer.class) keep the low 32 bits. 3,000 TRX are 3,000,000,000 sun, and
# are read as -1,294,967,296, with no exception and no SQLWarning.
# Who is hit: Java and Kotlin that read amounts into an int, by hand or by a mapper of rows. Amounts below 2,147.483648
# TRX or USDT are right, so it begins with the first large customer, with a balance below zero.
# Instead: getLong for each amount, or getBigDecimal.
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
      <groupId>org.xerial</groupId><artifactId>sqlite-jdbc</artifactId><version>3.54.1.0</version>
    </dependency>
  </dependencies>
</project>
XML
mvn --quiet --batch-mode dependency:copy-dependencies -DoutputDirectory=lib >log.txt 2>&1 ||
  { cat log.txt >&2; exit 1; }

cat > Run.java <<'JAVA'
import java.sql.*;

public class Run {
  public static void main(String[] args) throws SQLException {
    try (Connection db = DriverManager.getConnection("jdbc:sqlite::memory:")) {
      ResultSet row = db.createStatement().executeQuery("SELECT 3000000000 AS sun");
      row.next();
      System.out.println("getInt: " + row.getInt("sun"));
      System.out.println("getObject as Integer: " + row.getObject("sun", Integer.class));
      System.out.println("getLong: " + row.getLong("sun"));
      System.out.println("warnings: " + row.getWarnings());
    }
  }
}
JAVA

seen=$(java -cp 'lib/*' Run.java 2>log.txt) || { cat log.txt >&2; exit 1; }
expected='getInt: -1294967296
getObject as Integer: -1294967296
getLong: 3000000000
warnings: null'
if [ "$seen" != "$expected" ]; then
  printf 'This has changed. Expected:\n%s\nSeen:\n%s\n' "$expected" "$seen" >&2
  exit 1
fi
echo "$seen"
