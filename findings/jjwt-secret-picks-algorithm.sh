#!/usr/bin/env bash
# io.jsonwebtoken:jjwt 0.13.0 (Maven): a longer secret.
#
# One would guess: a token is signed with HS256 until somebody writes another algorithm.
# What happens: signWith(key) takes the algorithm from the length of the key. 32 bytes give HS256, 48 HS384, 64 HS512.
# The usual `openssl rand -hex 32` is a text of 64 bytes, so its tokens are HS512. The older signWith(HS256, text) stays
# with HS256, but decodes the text as base64 first, so that it signs with 48 other bytes.
# Who is hit: a Java backend beside a service that accepts HS256 alone, as it should. Each token is refused from the day
# on which the secret is made longer, and both sides have the same secret before their eyes.
# Instead: signWith(Keys.hmacShaKeyFor(text.getBytes(UTF_8)), Jwts.SIG.HS256).
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
      <groupId>io.jsonwebtoken</groupId><artifactId>jjwt-impl</artifactId><version>0.13.0</version>
    </dependency>
    <dependency>
      <groupId>io.jsonwebtoken</groupId><artifactId>jjwt-gson</artifactId><version>0.13.0</version>
    </dependency>
  </dependencies>
</project>
XML
mvn --quiet --batch-mode dependency:copy-dependencies -DoutputDirectory=lib >log.txt 2>&1 ||
  { cat log.txt >&2; exit 1; }

cat > Run.java <<'JAVA'
import static java.nio.charset.StandardCharsets.UTF_8;
import io.jsonwebtoken.*;
import io.jsonwebtoken.security.Keys;
import java.util.Base64;

public class Run {
  static String header(String token) {
    return new String(Base64.getUrlDecoder().decode(token.split("\\.")[0]), UTF_8);
  }

  @SuppressWarnings("deprecation")
  public static void main(String[] args) {
    for (int length : new int[] {32, 47, 48, 63, 64}) {
      String token = Jwts.builder().subject("42").signWith(Keys.hmacShaKeyFor(new byte[length])).compact();
      System.out.println("signWith(key of " + length + " bytes): " + header(token));
    }
    String secret = "0123456789abcdef".repeat(4); // as openssl rand -hex 32 writes one
    var key = Keys.hmacShaKeyFor(secret.getBytes(UTF_8));
    String meant = Jwts.builder().subject("42").signWith(key, Jwts.SIG.HS256).compact();
    String older = Jwts.builder().subject("42").signWith(SignatureAlgorithm.HS256, secret).compact();
    System.out.println("signWith(HS256, text): " + header(older) + ", signed with the text: " + older.equals(meant));
  }
}
JAVA

seen=$(java -cp 'lib/*' Run.java 2>log.txt) || { cat log.txt >&2; exit 1; }
expected='signWith(key of 32 bytes): {"alg":"HS256"}
signWith(key of 47 bytes): {"alg":"HS256"}
signWith(key of 48 bytes): {"alg":"HS384"}
signWith(key of 63 bytes): {"alg":"HS384"}
signWith(key of 64 bytes): {"alg":"HS512"}
signWith(HS256, text): {"alg":"HS256"}, signed with the text: false'
if [ "$seen" != "$expected" ]; then
  printf 'This has changed. Expected:\n%s\nSeen:\n%s\n' "$expected" "$seen" >&2
  exit 1
fi
echo "$seen"
