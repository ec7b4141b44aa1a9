// The page at /docs: shows /openapi.json of the same deployment, and sends its requests there.
window.SwaggerUIBundle({
  url: '/openapi.json',
  domNode: document.getElementById('docs'),
  deepLinking: true,
  displayRequestDuration: true,
  tryItOutEnabled: true,
  supportedSubmitMethods: ['get'],
  defaultModelsExpandDepth: 0,
  validatorUrl: null, // else the document's address is sent to a service elsewhere
  // A token is kept for this visit only, never stored by the browser.
  persistAuthorization: false,
})
