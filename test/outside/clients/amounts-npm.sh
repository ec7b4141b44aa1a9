# JavaScript: which decimals write an exponent, which the service refuses.
npm init -y > /dev/null
npm install --silent --no-fund --no-audit decimal.js@10.6.0 bignumber.js@9.3.1 big.js@7.0.1 > /dev/null
cp "$HERE/amounts-npm.mjs.txt" program.mjs
node program.mjs
