#!/usr/bin/env bash
# Apache Derby 10.16.1.1, HSQLDB 2.7.4 and H2 2.4.240 (Maven): the quotient of a DECIMAL(18, 2).
#
# One would guess: SUM(gross) / 1.20 has at least the two decimals of the column, and 1.20 divides as 1.2 does.
# What happens: in Derby the sum has 31 digits, so that decimals of the divisor are taken from the quotient, and it is
# cut off there: a sum of 100.00 divided by 1.2 is 83.3, and divided by 1.20 it is 83. The same quotient of one row has
# 13 decimals. Derby's reference gives the formula, on a page of its own. HSQLDB cuts off cents, and the sum of an INT
# column that is 3, divided by 2.0, is 1 there. H2 has more decimals than the column in each case.
# Who is hit: net amounts, shares and rates of totals. A report per payment is right, and the same expression over the
# total has lost the cents. Whoever tests with one of these databases what runs on another one does not see it.
# Instead: CAST(SUM(gross) AS DECIMAL(18, 2)) / 1.20 in Derby, or add in SQL and divide in BigDecimal.
set -euo pipefail
for tool in java javac mvn; do
  command -v "$tool" >/dev/null || { echo "$tool is missing" >&2; exit 77; }
done
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
for artifact in org.apache.derby:derby:10.16.1.1 org.apache.derby:derbyshared:10.16.1.1 org.hsqldb:hsqldb:2.7.4 \
  com.h2database:h2:2.4.240; do
  mvn --quiet --batch-mode dependency:copy -Dartifact="$artifact" -DoutputDirectory=. >log.txt 2>&1 ||
    { cat log.txt >&2; exit 1; }
done

cat > Run.java <<'JAVA'
import java.sql.DriverManager;
import java.sql.SQLException;

public class Run {
    public static void main(String[] arguments) throws SQLException {
        String[] databases = {"jdbc:derby:memory:a;create=true", "jdbc:hsqldb:mem:a", "jdbc:h2:mem:a"};
        String[] quotients = {"gross / 1.20", "SUM(gross) / 1.2", "SUM(gross) / 1.20", "SUM(gross) / 1.200",
            "CAST(SUM(gross) AS DECIMAL(18, 2)) / 1.20", "SUM(units) / 2.0"};
        for (String database : databases) {
            System.out.println(database.split(":")[1]);
            try (var connection = DriverManager.getConnection(database); var statement = connection.createStatement()) {
                statement.execute("CREATE TABLE payment (units INT, gross DECIMAL(18, 2))");
                statement.execute("INSERT INTO payment VALUES (3, 100.00)");
                for (String quotient : quotients) {
                    try (var rows = statement.executeQuery("SELECT " + quotient + " FROM payment")) {
                        rows.next();
                        System.out.println("  " + quotient + " is " + rows.getString(1));
                    } catch (SQLException error) {
                        System.out.println("  " + quotient + ": " + error.getMessage());
                    }
                }
            }
        }
    }
}
JAVA
javac Run.java

seen=$(java -Dderby.stream.error.file=derby.log -cp '.:*' Run)
expected='derby
  gross / 1.20 is 83.3333333333333
  SUM(gross) / 1.2 is 83.3
  SUM(gross) / 1.20 is 83
  SUM(gross) / 1.200 is 83
  CAST(SUM(gross) AS DECIMAL(18, 2)) / 1.20 is 83.3333333333333
  SUM(units) / 2.0 is 1.50000000000000000000
hsqldb
  gross / 1.20 is 83.33
  SUM(gross) / 1.2 is 83.33
  SUM(gross) / 1.20 is 83.33
  SUM(gross) / 1.200 is 83.333
  CAST(SUM(gross) AS DECIMAL(18, 2)) / 1.20 is 83.33
  SUM(units) / 2.0 is 1
h2
  gross / 1.20 is 83.333333
  SUM(gross) / 1.2 is 83.33333
  SUM(gross) / 1.20 is 83.333333
  SUM(gross) / 1.200 is 83.3333333
  CAST(SUM(gross) AS DECIMAL(18, 2)) / 1.20 is 83.333333
  SUM(units) / 2.0 is 1.500'
if [ "$seen" != "$expected" ]; then
  printf 'This has changed. Expected:\n%s\nSeen:\n%s\n' "$expected" "$seen" >&2
  exit 1
fi
echo "$seen"
